// The desk: lists recorded turns, plays them, and keeps what people say of them, all over /v1/recordings with the token given.
import { Wave } from "./wave.js";

const ROOT = "/v1/recordings";
const WRITTEN = new Set(["slots", "money", "spans"]);  // labels that are JSON
const $ = (id) => document.getElementById(id);
const element = (tag, text = "", more = {}) => Object.assign(document.createElement(tag), { textContent: text, ...more });
let token = "";
let choices = {};
let rows = [];
let after = null;
let chosen = -1;
let turn = null;
const wave = new Wave($("wave"), (at, all) => {
  $("seconds").textContent = all ? `${at.toFixed(1)} of ${all.toFixed(1)} s` : "no sound";
  $("play").textContent = at ? "Stop" : "Play";
});

function tell(text, wrong = false) {
  $("state").value = text;
  $("state").toggleAttribute("data-wrong", wrong);
}

async function ask(path, given = {}) {
  const asked = { ...given, headers: { Authorization: `Bearer ${token}`, ...given.headers } };
  const answer = await fetch(ROOT + path, asked).catch(() => { throw new Error("The service does not answer: try again once it runs."); });
  if (answer.ok) return answer;
  if (answer.status === 401) throw new Error("The token is no good, or no longer: give a new one above.");
  const { error } = await answer.json();
  throw new Error(error.message);
}

const say = (work) => async (...given) => {
  try {
    await work(...given);
  } catch (error) {
    tell(error.message, true);
  }
};

function query(more = {}) {
  const asked = new URLSearchParams();
  for (const { name, value, type, checked } of $("filters").elements) {
    if (!name || (type === "checkbox" ? !checked : !value)) continue;
    asked.set(name, type === "checkbox" ? "true" : type === "date" ? `${value}T00:00:00Z` : value);
  }
  if (!asked.has("sample")) asked.delete("seed");
  for (const [name, value] of Object.entries(more)) asked.set(name, value);
  return asked.size ? `?${asked}` : "";
}

function row(found, at) {
  const line = element("tr", "", { onclick: say(() => choose(at)) });
  const led = [found.decision, found.outcome, found.error].filter(Boolean).join(" → ");
  const said = found.withheld ? "(withheld)" : found.text;
  const when = new Date(found.at).toLocaleString();
  for (const cell of [when, said, found.intent ?? "", led, found.confidence.toFixed(2), found.state]) line.append(element("td", cell));
  return line;
}

async function list(more) {
  const found = await (await ask(query(more ? { after } : {}))).json();
  if (!more) {
    rows = [];
    $("rows").replaceChildren();
  }
  for (const one of found.turns) {
    $("rows").append(row(one, rows.length));
    rows.push(one);
  }
  after = found.after;
  $("more").hidden = after === null;
  $("count").textContent = `${rows.length} of ${found.total}`;
  tell("");
  document.activeElement?.blur();  // keys are for the turn now
  if (!more && rows.length) await choose(0);
  else if (!more) $("turn").hidden = true;
}

const place = () => `/${rows[chosen].call}/${rows[chosen].turn}`;

async function choose(at) {
  if (at < 0 || at >= rows.length) return;
  chosen = at;
  [...$("rows").children].forEach((line, n) => line.setAttribute("aria-selected", String(n === at)));
  $("rows").children[at].scrollIntoView({ block: "nearest" });
  const asked = place();
  wave.clear();
  turn = await (await ask(asked)).json();
  if (asked !== place()) return;
  show();
  if (!turn.sound) return;
  const bytes = await (await ask(`${asked}/sound`)).arrayBuffer();
  if (asked === place()) await wave.load(bytes);
}

function show() {
  $("turn").hidden = false;
  $("turn-title").textContent = `Turn ${turn.turn} of ${turn.turns}, ${turn.review.state}`;
  $("said").textContent = turn.withheld ? "What was said is withheld." : turn.text;
  const slots = Object.entries(turn.slots).map(([name, slot]) => [name, `${JSON.stringify(slot.value)} (“${slot.words}”)`]);
  const money = (moves) => moves.map((move) => JSON.stringify(move, (_, value) => value ?? undefined)).join(" ");
  const found = [
    ["intent", turn.intent], ["rule", turn.rule], ["sure", turn.confidence.toFixed(2)], ...slots, ["payee", turn.slots.payee ? null : turn.payee],
    ["decision", turn.decision], ["outcome", turn.outcome], ["reply", turn.reply], ["read back", turn.proposal && money([turn.proposal])],
    ["booked", money(turn.booked)], ["error", turn.error],
  ].filter(([, value]) => value);
  $("found").replaceChildren(...found.flatMap(([name, value]) => [element("dt", name), element("dd", value)]));
  const { entries } = turn.review;
  $("people").replaceChildren(...entries.map((said, n) => {
    const line = element("p", `${n + 1}. ${said.by}, ${said.action}: ${JSON.stringify(said.labels)} ${said.note}`);
    if (turn.review.state === "disputed") line.append(" ", element("button", "Settle by this", { type: "button", onclick: say(() => settle(n)) }));
    return line;
  }));
  $("note").value = "";
  const last = entries.at(-1)?.labels ?? {};
  const before = Object.keys(last).length ? last : turn.machine;
  $("fields").replaceChildren(...choices.fields.flatMap((name) => field(name, before[name])));
  $("labels").hidden = turn.withheld;
}

function field(name, value) {
  const known = name === "payee" ? turn.payees.map((payee) => payee.id) : choices[name === "outcome" ? "decision" : name];
  const text = value === undefined ? "" : WRITTEN.has(name) ? JSON.stringify(value) : [value].flat().join("|");
  let input = element(WRITTEN.has(name) ? "textarea" : "input");
  if (known?.length && !text.includes("|")) {
    input = element("select");
    input.append(...["", ...new Set([...known, text])].map((one) => element("option", one, { value: one })));
  }
  const stands = element("input", "", { type: "checkbox", checked: value !== undefined });
  Object.assign(input, { id: `label-${name}`, value: text, oninput: () => { stands.checked = true; } });
  stands.setAttribute("aria-label", `${name} is right`);
  stands.dataset.field = name;
  return [stands, element("label", name, { htmlFor: input.id }), input];
}

function labels() {
  const given = {};
  for (const { dataset } of document.querySelectorAll("#fields input:checked[data-field]")) {
    const text = $(`label-${dataset.field}`).value;
    given[dataset.field] = WRITTEN.has(dataset.field) ? JSON.parse(text) : text.includes("|") ? text.split("|") : text;
  }
  return given;
}

async function keep(given, action) {
  const body = JSON.stringify({ seen: turn.review.state, action, labels: given, note: $("note").value });
  const kept = await (await ask(`${place()}/reviews`, { method: "POST", body, headers: { "Content-Type": "application/json" } })).json();
  rows[chosen].state = kept.state;
  $("rows").children[chosen].lastChild.textContent = kept.state;
  tell(`Turn ${turn.turn} is ${kept.state}.`);
  await choose(chosen + 1 < rows.length ? chosen + 1 : chosen);
}

const save = () => keep(labels(), turn.review.state === "disputed" ? "settle" : "review");
const settle = (n) => keep(turn.review.entries[n].labels, "settle");

async function settleBy(which) {
  if (turn.review.state !== "disputed") return;
  await settle(turn.review.entries.length - 2 + which);
}

// The test names the recording, which stays sealed; with words and voice only where a person says so, which is on record.
async function makeTest(personal = false) {
  if (personal && !confirm("The file will hold the caller's words, accounts, payees and voice, beyond retention and erasure. Make it?")) return;
  const made = await (await ask(`${place()}/case${personal ? "?personal=true" : ""}`)).blob();
  const link = element("a", "", { href: URL.createObjectURL(made), download: `${rows[chosen].call}-${rows[chosen].turn}.zip` });
  link.click();
  URL.revokeObjectURL(link.href);
  tell("The test is in your downloads: unpack it, and `tellerline replay` its manifest.jsonl.");
}

async function agreed() {
  const found = await (await ask("/agreement")).json();
  const shown = (value) => (value === null ? "–" : value.toFixed(2));
  $("kappa").replaceChildren(...Object.entries(found).map(([name, one]) => {
    const line = element("tr");
    for (const cell of [name, String(one.pairs), shown(one.same), shown(one.kappa)]) line.append(element("td", cell));
    return line;
  }));
}

// What a shadow made otherwise, a line a value; the first of a turn names it, and shows it where it is listed.
async function shadow() {
  const found = await (await ask("/shadow")).json();
  const counts = (of) => Object.entries(of).map(([name, count]) => `${name} ${count}`).join(", ");
  const left = Object.keys(found.left).length ? `; calls left: ${counts(found.left)}` : "";
  $("shadow-count").textContent = `${found.compared} turns of ${found.calls} calls through both, ${found.differ} differ (${counts(found.values) || "none"})${left}`;
  $("shadow").replaceChildren(...found.turns.flatMap((one) => Object.entries(one.differs).map(([name, pair], n) => {
    const line = element("tr", "", { title: one.other });
    const at = rows.findIndex((shown) => shown.call === one.call && shown.turn === one.turn);
    if (n === 0 && at >= 0) line.append(element("td"));
    else line.append(element("td", n ? "" : `${one.call} ${one.turn}`));
    if (n === 0 && at >= 0) line.firstElementChild.append(element("button", `${one.call} ${one.turn}`, { type: "button", onclick: say(() => choose(at)) }));
    const told = (value) => (value === null ? "none" : typeof value === "string" ? value : JSON.stringify(value));
    for (const cell of [name, ...pair.map(told)]) line.append(element("td", cell));
    return line;
  })));
}

// Groups of failures: a line lists its turns.
async function failures() {
  const found = await (await ask("/failures")).json();
  const box = $("filters").elements.failure;
  const kept = box.value;
  const told = (one) => [one.stage, one.slot, one.cause].filter(Boolean).join(" · ");
  box.replaceChildren(box.firstElementChild, ...found.map((one) => element("option", told(one), { value: one.id })));
  box.value = found.some((one) => one.id === kept) ? kept : "";
  $("groups").replaceChildren(...found.map((one) => {
    const line = element("tr", "", { onclick: say(() => only(one.id)) });
    const press = element("button", one.stage, { type: "button" });
    line.append(element("td"), ...[one.slot, one.cause, String(one.turns)].map((cell) => element("td", cell)));
    line.firstElementChild.append(press);
    return line;
  }));
}

async function only(id) {
  $("filters").elements.todo.checked = false;
  $("filters").elements.failure.value = id;
  await list();
}

async function sign() {
  token = $("token").value.trim();
  choices = await (await ask("/choices")).json();
  $("token").value = "";
  for (const name of ["intent", "decision", "state"]) {
    const box = $("filters").elements[name];
    box.replaceChildren(box.firstElementChild, ...choices[name].map((one) => element("option", one, { value: one })));
  }
  await failures();
  for (const part of [$("filters"), document.querySelector("main")]) part.hidden = false;
  await list();
}

const KEYS = {
  j: () => choose(chosen + 1), k: () => choose(chosen - 1), " ": () => wave.toggle(), Enter: () => turn.review.state !== "disputed" && save(), s: save, t: () => makeTest(),
  e: () => $("label-intent").focus(), 1: () => settleBy(0), 2: () => settleBy(1),
};

document.addEventListener("keydown", say(async (event) => {
  const own = event.key === " " || event.key === "Enter" ? ", input, button, summary" : "";  // which these press
  const writing = event.target.closest?.(`input:not([type=checkbox]), select, textarea${own}`);
  if (event.key === "Escape") event.target.blur();
  if (writing || !turn || event.repeat || event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS)) return;
  event.preventDefault();
  await KEYS[event.key]();
}));
const submitted = (form, work) => $(form).addEventListener("submit", (event) => { event.preventDefault(); say(work)(); });
submitted("sign", sign);
submitted("filters", () => list());
submitted("labels", save);
$("more").addEventListener("click", say(() => list(true)));
$("play").addEventListener("click", () => wave.toggle());
$("test").addEventListener("click", say(() => makeTest()));
$("personal").addEventListener("click", say(() => makeTest(true)));
$("beside").addEventListener("toggle", say(async () => { if ($("beside").open) await shadow(); }));
$("why").addEventListener("toggle", say(async () => { if ($("why").open) await failures(); }));
$("agreed").addEventListener("toggle", say(async () => { if ($("agreed").open) await agreed(); }));
