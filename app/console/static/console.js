// The console: calls the service over /v1/calls, speaks or types, plays what is answered, and shows what was decided and why.
import { Speaker } from "./speaker.js";

const RATE = 24000;  // of the sound of replies
const $ = (id) => document.getElementById(id);
const ui = Object.fromEntries(
  ["locale", "customer", "call", "talk", "level", "state", "voice", "said", "partial", "typed", "words", "keys", "card", "order",
    "expiry", "spans", "candidates", "decision", "stages"].map((id) => [id, $(id)]),
);
const COMMA = new Set(["JPY", "KRW"]);
const ALL_WORDS = await (await fetch("words.json")).json();  // what the page says, by language
let words = ALL_WORDS.en;
let names = {};  // of the customer's payees and accounts, by id
let socket = null;
let microphone = null;
let speaker = null;  // while a call is open
let sounding = "";  // the reply whose sound the next binary message is
let spoken = "";
let expiryTimer = 0;
let waiting = false;  // whether the order on the card is still to be answered

const send = (event) => socket?.readyState === WebSocket.OPEN && socket.send(JSON.stringify(event));
const element = (tag, text, className = "") => Object.assign(document.createElement(tag), { textContent: text, className });

const word = (key, values = {}) => Object.entries(values).reduce((text, [name, value]) => text.replace(`{${name}}`, value), words[key] ?? key);
const oneOf = (kind, value) => words[`${kind}.${value}`] ?? value;

function state(text, key = "") {
  ui.state.value = text;
  ui.state.dataset.words = key;  // said anew when the language changes
}

function speakLanguage() {
  const language = ui.locale.value.split("-")[0];
  words = ALL_WORDS[language] ?? ALL_WORDS.en;
  document.documentElement.lang = language;
  for (const node of document.querySelectorAll("[data-words]")) if (node.dataset.words) node.textContent = word(node.dataset.words);
  for (const node of document.querySelectorAll("[data-label]")) node.setAttribute("aria-label", word(node.dataset.label));
  for (const node of document.querySelectorAll("[data-hint]")) node.placeholder = word(node.dataset.hint);
}

function say(who, text, note = "") {
  const line = element("li", text, who);
  if (note) line.append(element("small", note));
  ui.said.append(line);
  ui.said.scrollTop = ui.said.scrollHeight;
}

function define(list, pairs) {
  list.replaceChildren(...pairs.flatMap(([term, value]) => [element("dt", term), element("dd", value)]));
}

function money(minor, currency) {
  const digits = COMMA.has(currency) ? 0 : 2;
  return new Intl.NumberFormat(ui.locale.value, { style: "currency", currency }).format(minor / 10 ** digits);
}

function showSpans(text, spans) {
  const marked = document.createElement("p");
  const points = [...text];
  let at = 0;
  for (const span of spans) {
    marked.append(points.slice(at, span.start).join(""));
    const mark = element("mark", span.surface);
    mark.title = `${span.kind} ${JSON.stringify(span.value)} · ${span.rule}${span.ambiguity ? ` · ${span.ambiguity}` : ""}`;
    marked.append(mark);
    at = span.end;
  }
  marked.append(points.slice(at).join(""));
  ui.spans.replaceChildren(marked);
}

function showStages(stages) {
  const longest = Math.max(1, ...Object.values(stages));
  ui.stages.replaceChildren(...Object.entries(stages).map(([name, ms]) => {
    const row = element("div", "", "stage");
    const bar = element("i", "");
    bar.style.width = `${(100 * ms) / longest}%`;
    row.append(element("span", oneOf("stage", name)), bar, element("span", `${ms.toFixed(1)} ms`));
    return row;
  }));
}

function showCard(event) {
  const named = (id) => names[id] ?? id;
  ui.card.hidden = false;
  waiting = true;
  define(ui.order, [
    event.payee_id === null ? [word("to"), named(event.to_account)] : [word("payee"), named(event.payee_id)],
    [word("amount"), money(event.amount_minor, event.currency)],
    [word("day"), event.on === null ? word("at_once") : new Intl.DateTimeFormat(ui.locale.value, { dateStyle: "full" }).format(new Date(`${event.on}T00:00`))],
    [word("from"), named(event.source)],
    [word("name_check"), oneOf("check", event.verification)],
    [word("second_factor"), word(event.step_up_required ? "needed" : "not_needed")],
  ]);
  const end = Date.parse(event.expires_at);
  const whole = Math.max(1, end - Date.now());
  clearInterval(expiryTimer);
  expiryTimer = setInterval(() => {
    ui.expiry.value = Math.max(0, (end - Date.now()) / whole);
    if (Date.now() > end) hideCard();
  }, 500);
}

function hideCard() {
  clearInterval(expiryTimer);
  waiting = false;
  ui.card.hidden = true;
}

function showVoice(modality) {
  ui.voice.dataset.words = `voice.${modality}`;
  ui.voice.textContent = oneOf("voice", modality);
}

function hearSound(pcm) {
  if (speaker?.play(sounding, pcm)) send({ type: "tellerline.playback", response_id: sounding, state: "started" });
}

async function heardOut(reply) {
  const played = await speaker?.played(reply);
  send({ type: "tellerline.playback", response_id: reply, state: "completed", ...(played == null ? {} : { played_ms: played }) });
}

const handlers = {
  "session.created": () => state(word("connected")),
  "session.updated": (event) => showVoice(event.session.output_modalities[0]),
  "tellerline.reply.audio": (event) => { sounding = event.response_id; },
  "tellerline.reply.interrupted": (event) => { if (speaker?.reply === event.response_id) speaker.stop(); },
  "input_audio_buffer.speech_started": () => state(word("listening")),
  "tellerline.transcript.partial": (event) => {
    const points = [...event.text];
    ui.partial.replaceChildren(
      points.slice(0, event.stable_chars).join(""),
      element("span", points.slice(event.stable_chars).join(""), "unstable"),
    );
  },
  "conversation.item.input_audio_transcription.completed": (event) => {
    ui.partial.replaceChildren();
    spoken = event.transcript;
    say("caller", event.transcript);
  },
  "tellerline.turn.discarded": () => { ui.partial.replaceChildren(); state(word("connected")); },
  "tellerline.spans": (event) => showSpans(spoken, event.spans),
  "tellerline.payees": (event) => {
    ui.candidates.hidden = event.candidates.length === 0;
    ui.candidates.tBodies[0].replaceChildren(...event.candidates.map((candidate) => {
      const row = document.createElement("tr");
      row.append(element("td", candidate.name), element("td", candidate.id === event.choice ? word("chosen") : ""),
        element("td", candidate.score.toFixed(2)));
      return row;
    }));
  },
  "tellerline.decision": (event) => define(ui.decision, [
    [word("decision"), oneOf("decision", event.decision)],
    [word("intent"), event.intent === null ? word("none") : oneOf("intent", event.intent)],
    [word("route"), oneOf("route", event.route)], [word("confidence"), event.confidence.toFixed(2)],
    [word("rule"), event.rule ?? word("none")],
    [word("missing"), event.missing.map((slot) => oneOf("slot", slot)).join(", ") || word("nothing")],
  ]),
  "tellerline.readback": showCard,
  "tellerline.ledger": (event) => { hideCard(); say("teller", word("transfer", { state: oneOf("state", event.state) }), event.reference); },
  "response.output_text.done": (event) => say("teller", event.text),
  "response.done": (event) => {
    state(event.response.metadata.awaits ? oneOf("waits", event.response.metadata.awaits) : word("connected"));
    ui.card.hidden = !waiting || event.response.metadata.awaits !== "confirmation";  // read again, it is there again
    if (event.response.status === "completed") heardOut(event.response.id);
  },
  "tellerline.timings": (event) => showStages(event.stages),
  "tellerline.handoff": (event) => say("teller", word("person"), event.reason),
  "tellerline.token.expiring": async () => {
    const answer = await fetch(`/demo/token?customer=${encodeURIComponent(ui.customer.value)}`, { method: "POST" });
    if (answer.ok) send({ type: "tellerline.token", token: (await answer.json()).access_token });
  },
  "tellerline.draining": (event) => say("error", word("restarts", { seconds: event.closes_in_s }), "draining"),
  error: (event) => say("error", event.error.message, event.error.code),
};

async function asked(url, options) {
  const answer = await fetch(url, options).catch(() => null);
  if (!answer?.ok) { say("error", word(answer ? "no_token" : "no_service")); return null; }
  return answer.json();
}

async function connect() {
  ui.call.disabled = true;
  const given = await asked(`/demo/token?customer=${encodeURIComponent(ui.customer.value)}`, { method: "POST" });
  ui.call.disabled = false;
  if (!given) return;
  const { access_token: token } = given;
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  socket = new WebSocket(`${scheme}://${location.host}/v1/calls`, ["tellerline.v1", `tellerline.bearer.${token}`]);
  socket.binaryType = "arraybuffer";
  speaker = new Speaker(RATE);
  let opened = false;
  socket.onopen = () => {
    opened = true;
    send({ type: "session.update", session: {
      type: "realtime", output_modalities: ["audio"], audio: { output: { format: { type: "audio/pcm", rate: RATE } } },
      tellerline: { locale: ui.locale.value, playback: "acknowledged" },
    } });
    setOpen(true);
  };
  socket.onmessage = ({ data }) => {
    if (data instanceof ArrayBuffer) { hearSound(data); return; }
    const event = JSON.parse(data);
    handlers[event.type]?.(event);
  };
  socket.onclose = ({ code, reason }) => {
    setOpen(false);
    state(word("idle"), "idle");
    hideCard();
    if (code !== 1000) say("error", word(opened ? "dropped" : "not_taken"), reason);
  };
}

function setOpen(open) {
  ui.call.dataset.words = open ? "hang_up" : "call";
  ui.call.textContent = word(ui.call.dataset.words);
  for (const control of [ui.talk, ui.words, ui.typed.querySelector("button")]) control.disabled = !open;
  ui.locale.disabled = ui.customer.disabled = open;
  if (!open) { mute(); speaker?.close(); socket = speaker = null; }
}

async function unmute() {
  if (!navigator.mediaDevices) throw new DOMException("", "SecurityError");
  const stream = await navigator.mediaDevices.getUserMedia({
    audio: { channelCount: 1, echoCancellation: true, noiseSuppression: false, autoGainControl: false },
  });
  const context = new AudioContext({ sampleRate: 16000 });
  await context.audioWorklet.addModule("microphone.js");
  const node = new AudioWorkletNode(context, "microphone");
  node.port.onmessage = ({ data: { frame, peak } }) => {
    ui.level.value = peak;
    if (socket?.readyState === WebSocket.OPEN) socket.send(frame);
  };
  context.createMediaStreamSource(stream).connect(node);
  microphone = { stream, context };
  ui.talk.setAttribute("aria-pressed", "true");
}

function mute() {
  microphone?.stream.getTracks().forEach((track) => track.stop());
  microphone?.context.close();
  microphone = null;
  ui.level.value = 0;
  ui.talk.setAttribute("aria-pressed", "false");
}

function type(text) {
  spoken = text;
  say("caller", text);
  send({ type: "conversation.item.create", item: { type: "message", role: "user", content: [{ type: "input_text", text }] } });
}

ui.call.onclick = () => (socket ? socket.close(1000) : connect());
ui.talk.onclick = () => (microphone ? mute() : unmute().catch(({ name }) => say("error", words[`microphone.${name}`] ?? word("microphone.failed"), name)));
ui.typed.onsubmit = (event) => {
  event.preventDefault();
  const text = ui.words.value.trim();
  if (text) type(text);
  ui.words.value = "";
};
ui.card.querySelectorAll("button").forEach((button) => { button.onclick = () => type(word(`say_${button.dataset.say}`)); });
for (const digit of "123456789*0#") {
  const key = element("button", digit);
  key.type = "button";
  key.onclick = () => send({ type: "tellerline.dtmf", digit });
  ui.keys.append(key);
}
ui.locale.onchange = () => {
  speakLanguage();
  const first = [...ui.customer.options].find((option) => option.dataset.locale === ui.locale.value);
  if (first) ui.customer.value = first.value;
  ui.customer.onchange();
};
ui.customer.onchange = () => { names = namesOf[ui.customer.value] ?? {}; };

const offered = [...ui.locale.options];
const theirs = navigator.languages.map((tag) => offered.find(({ value }) => value === tag) ?? offered.find(({ value }) => value.startsWith(tag.slice(0, 2))));
(theirs.find(Boolean) ?? offered[0]).selected = true;
speakLanguage();
const customers = (await asked("/demo/customers")) ?? [];
const namesOf = Object.fromEntries(customers.map((customer) => [customer.id, customer.names]));
ui.customer.replaceChildren(...customers.map(({ id, name, locale }) => {
  const option = new Option(name, id);
  option.dataset.locale = locale;
  return option;
}));
ui.locale.onchange();
