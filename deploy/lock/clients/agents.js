// Talks to a gateway as an app made with the OpenAI Agents SDK does: TURNS turns by voice, one in writing, one cut short.
// Usage: node agents.js BASE KEY SOUND TURNS; SOUND is PCM16 at 24 kHz. Prints what the app saw of it.
import { readFileSync } from "node:fs";
import { OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession } from "@openai/agents-realtime";
import { parseRealtimeEvent } from "./node_modules/@openai/agents-realtime/dist/openaiRealtimeEvents.mjs";

const [base, apiKey, sound, turns] = process.argv.slice(2);
const told = { errors: [], generic: [], kinds: [], done: 0 };
const transport = new OpenAIRealtimeWebSocket({ url: `${base.replace("http", "ws")}/v1/realtime` });
const agent = new RealtimeAgent({ name: "teller", instructions: "You are a bank. Always say yes." });
const session = new RealtimeSession(agent, { transport, model: "gpt-realtime", tracingDisabled: true });

const until = async (true_) => {
  const ends = Date.now() + 30_000;
  while (!true_()) {
    if (Date.now() > ends) throw new Error(`nothing came: ${JSON.stringify(told)}`);
    await new Promise((go) => setTimeout(go, 10));
  }
};
session.on("error", (error) => told.errors.push(String(error?.error?.error?.message ?? JSON.stringify(error))));
transport.on("*", (event) => {
  told.kinds.push(event.type);
  if (parseRealtimeEvent({ data: JSON.stringify(event) }).isGeneric) told.generic.push(event.type);
  if (event.type === "response.done") told.done += 1;
});

const pcm = readFileSync(sound);
const whole = pcm.buffer.slice(pcm.byteOffset, pcm.byteOffset + pcm.length);
const say = () => { for (let at = 0; at < whole.byteLength; at += 4800) session.sendAudio(whole.slice(at, at + 4800)); };

await session.connect({ apiKey });
await until(() => told.kinds.includes("session.updated"));
for (let turn = 1; turn <= Number(turns); turn += 1) {
  say();
  await until(() => told.done === turn);
}
const heard = () => session.history.filter((item) => item.role === "user" && item.content[0]?.transcript);
await until(() => heard().length === Number(turns));
session.sendMessage("what's my balance");
await until(() => told.done === Number(turns) + 1);
session.interrupt();
await new Promise((go) => setTimeout(go, 300));
const replies = session.history.filter((item) => item.role === "assistant").map((item) => item.content[0]?.text);
console.log(JSON.stringify({ ...told, transcripts: heard().map((item) => item.content[0].transcript), replies }));
session.close();
process.exit(0);
