// Calls a gateway through the OpenAI SDK, as Node does or, with "browser", as a browser does. Prints what was heard.
// Usage: node openai.js BASE KEY SOUND [browser]; SOUND is PCM16 at 24 kHz.
import { readFileSync } from "node:fs";
import OpenAI from "openai";
import { OpenAIRealtimeWebSocket } from "openai/realtime/websocket";
import { OpenAIRealtimeWS } from "openai/realtime/ws";
import { WebSocket } from "ws";

const [base, key, sound, where] = process.argv.slice(2);
globalThis.WebSocket ??= WebSocket;
const client = new OpenAI({ apiKey: key, baseURL: `${base}/v1` });
const Line = where === "browser" ? OpenAIRealtimeWebSocket : OpenAIRealtimeWS;
const line = new Line({ model: "gpt-realtime" }, client);
const told = { kinds: [], errors: [], transcript: "", text: "" };

line.on("event", (event) => told.kinds.push(event.type));
line.on("error", (error) => told.errors.push(error.message));
line.on("session.created", () => {
  line.send({ type: "session.update", session: { type: "realtime", output_modalities: ["text"] } });
});
line.on("session.updated", () => {
  const pcm = readFileSync(sound);
  for (let at = 0; at < pcm.length; at += 4800) {
    line.send({ type: "input_audio_buffer.append", audio: pcm.subarray(at, at + 4800).toString("base64") });
  }
});
line.on("conversation.item.input_audio_transcription.completed", (event) => { told.transcript = event.transcript; });
line.on("response.output_text.delta", (event) => { told.text += event.delta; });
line.on("response.done", () => {
  console.log(JSON.stringify({ ...told, protocol: line.socket.protocol }));
  line.close();
  process.exit(0);
});
setTimeout(() => { console.log(JSON.stringify(told)); process.exit(1); }, 60_000);
