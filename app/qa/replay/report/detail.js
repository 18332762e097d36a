// One turn, whole: sound, words with their spans, alternatives, candidates, derivation, stages.
const Detail = (() => {
  const panel = document.getElementById("detail");
  let opened = null;

  // Values as people read them: money with its decimal point, ranges with a dash, the rest as JSON.
  function show(value) {
    if (typeof value === "string") return value;
    if (Array.isArray(value)) return value.map(show).join(", ") || "none";
    if (value && value.amount_minor !== undefined) {
      const { amount_minor: minor, currency, ...rest } = value;
      const digits = currency && currency !== "XXX" ? new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits : 0;
      const amount = `${(minor / 10 ** digits).toFixed(digits)} ${currency || "minor units"}`;
      return [amount, ...Object.values(rest).filter(Boolean).map((v) => `to ${v}`)].join(" ");
    }
    if (value && value.kind !== undefined) return `${value.kind} ${show(value.value)}`;
    if (value && value.start !== undefined) return `${value.start} – ${value.end}`;
    if (value && typeof value === "object") return Object.entries(value).map(([k, v]) => `${k}: ${show(v)}`).join(", ");
    return JSON.stringify(value);
  }
  function section(title, ...children) {
    const found = children.flat().filter(Boolean);
    return found.length ? [make("h3", {}, title), ...found] : [];
  }

  // Offsets are code points; a JavaScript string counts UTF-16 units.
  function marked(text, spans, payee) {
    const points = Array.from(text);
    const marks = spans.map((s) => ({ ...s, label: `${s.kind} ${show(s.value)}`, hint: s.rule }));
    if (payee && payee.end > payee.start) marks.push({ start: payee.start, end: payee.end, label: "payee", kind: "payee", hint: payee.outcome });
    marks.sort((a, b) => a.start - b.start || b.end - a.end);
    const out = [];
    let at = 0;
    for (const mark of marks) {
      if (mark.start < at) continue;
      out.push(points.slice(at, mark.start).join(""));
      out.push(make("mark", { class: mark.kind, title: `${mark.label} · ${mark.hint}` }, points.slice(mark.start, mark.end).join(""), make("sup", {}, mark.label)));
      at = mark.end;
    }
    out.push(points.slice(at).join(""));
    return make("p", { class: "words" }, out);
  }

  // Edits between what was said and heard, by words (or characters where there are no spaces).
  function edits(said, heard) {
    const split = (text) => (text.includes(" ") ? text.split(" ") : Array.from(text));
    const gap = said.includes(" ") || heard.includes(" ") ? " " : "";
    const a = gap ? said.split(" ") : split(said), b = gap ? heard.split(" ") : split(heard);
    const cost = Array.from({ length: a.length + 1 }, (_, i) => [i, ...Array(b.length).fill(0)]);
    for (let j = 0; j <= b.length; j++) cost[0][j] = j;
    for (let i = 1; i <= a.length; i++)
      for (let j = 1; j <= b.length; j++)
        cost[i][j] = Math.min(cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] !== b[j - 1]));
    const out = [];
    for (let i = a.length, j = b.length; i > 0 || j > 0;) {
      if (i > 0 && j > 0 && a[i - 1] === b[j - 1] && cost[i][j] === cost[i - 1][j - 1]) { out.unshift(a[i - 1] + gap); i--; j--; }
      else if (i > 0 && cost[i][j] === cost[i - 1][j] + 1) { out.unshift(make("del", {}, a[--i]), gap); }
      else if (j > 0 && cost[i][j] === cost[i][j - 1] + 1) { out.unshift(make("ins", {}, b[--j]), gap); }
      else { out.unshift(make("del", {}, a[--i]), gap, make("ins", {}, b[--j]), gap); }
    }
    return make("p", {}, out);
  }

  function table(head, rows) {
    if (!rows.length) return null;
    return make("table", {},
      make("thead", {}, make("tr", {}, head.map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, rows.map(([kind, ...cells]) => make("tr", { class: kind || null }, cells.map((c) => make("td", {}, c))))));
  }

  function expected(record, wrong) {
    const expect = record.expect;
    if (!expect) return null;
    const got = { transcript: record.heard, payee: record.payee && record.payee.choice, slots: record.slots, spans: null, money: record.money };
    const rows = Object.entries(expect).map(([name, value]) => {
      const bad = wrong.some((w) => w === name || w.startsWith(`${name}.`));
      const found = name in got ? got[name] : record[name];
      return [bad ? "wrong" : "", name, show(value), name === "spans" ? "see below" : found === undefined || found === null ? "–" : show(found)];
    });
    return table(["", "expected", "was"], rows);
  }

  function meter(score) {
    const bar = make("i");
    bar.style.width = `${Math.round(100 * Math.max(0, Math.min(1, score)))}%`;
    return make("span", { class: "meter", role: "img", "aria-label": `score ${score.toFixed(2)}` }, bar);
  }

  function stages(list) {
    if (!list.length) return null;
    const end = Math.max(...list.map(([, start, ms]) => start + ms)) || 1;
    const bars = list.flatMap(([name, start, ms], i) => [
      make("text", { x: 0, y: i * 18 + 12 }, name),
      make("rect", { x: 110 + (start / end) * 330, y: i * 18 + 3, width: Math.max(1, (ms / end) * 330), height: 11, class: `s${i % 8}` }, make("title", {}, `${name}: ${ms.toFixed(2)} ms`)),
      make("text", { x: 500, y: i * 18 + 12, "text-anchor": "end", class: "note" }, `${ms.toFixed(2)} ms`),
    ]);
    return make("svg", { viewBox: `0 0 505 ${list.length * 18 + 4}`, role: "img", "aria-label": "Stages of this turn" }, bars);
  }

  function derivation(record) {
    const rows = (record.spans || []).flatMap((s) => [
      ["", `“${s.surface}”`, `${s.kind} ${show(s.value)}`, s.rule + (s.ambiguity ? ` · ${s.ambiguity}` : "")],
      ...(s.readings || []).map((r) => ["", "  or", `${r.kind} ${show(r.value)}`, r.rule]),
      ...(s.rejected || []).map((r) => ["", "  not", `${r.kind} ${show(r.value)}`, r.rule]),
    ]);
    const slots = (record.evidence || []).map((e) => ["", `“${e.surface}”`, `${e.slot} = ${show((record.slots || {})[e.slot])}`, e.rule]);
    const how = [record.rule && `rule ${record.rule}`, `confidence ${(record.confidence || 0).toFixed(2)}`, record.route && `route ${record.route}`,
      (record.missing || []).length && `missing ${record.missing.join(", ")}`, (record.vetoes || []).length && `vetoed by ${record.vetoes.join(", ")}`].filter(Boolean);
    return [make("p", {}, how.join(" · ")), table(["words", "value", "rule"], [...rows, ...slots])];
  }

  function outcome(record) {
    const rows = [["", "decision", [record.decision || "–", record.outcome].filter(Boolean).join(", then ")], ["", "reply", record.reply || "–"], ["", "said", record.spoken || "–"]];
    if (record.proposal) rows.push(["", "read back", show(record.proposal)]);
    for (const move of record.money || []) rows.push(["", "booked", show(move)]);
    for (const model of record.models || []) rows.push(["", `model (${model.purpose})`, [model.model, model.prompt, model.outcome].filter(Boolean).join(" · ")]);
    if (record.reached === false) rows.push(["wrong", "not reached", "the call had parted from the recorded one before"]);
    if (record.parting) rows.push(["wrong", "parted", record.parting]);
    if (record.error) rows.push(["wrong", "error", [record.error, record.reason].filter(Boolean).join(": ")]);
    return table(["", ""], rows);
  }

  function sound(record) {
    const s = record.sound;
    if (!s) return null;
    const part = s.start !== undefined || s.end !== undefined ? `${s.start ?? 0} – ${s.end ?? "end"} s` : "";
    return make("p", {}, [`channel ${s.channel} of ${s.channels} (${s.chosen})`, part, `level ${s.level_db} dB`,
      s.clipped ? `clipped ${(100 * s.clipped).toFixed(2)} %` : "", s.snr_db !== undefined ? `speech over background ${s.snr_db} dB` : ""].filter(Boolean).join(" · "));
  }

  function neighbours(record) {
    const own = Data.rows.map((row) => Data.get(row, "id")).filter((id) => id.slice(0, id.lastIndexOf("#")) === record.case);
    if (own.length < 2) return null;
    const link = (id) => make("button", { type: "button", "aria-current": id === `${record.case}#${record.turn}` ? "true" : null, onclick: () => Page.openId(id) }, id.slice(id.lastIndexOf("#")));
    return make("p", {}, own.flatMap((id) => [link(id), " "]));
  }

  function open(index) {
    const { record, wrong, stages: list, words } = Data.detail(index);
    opened = index;
    const source = record.audio ? Data.audio(`${record.case}#${record.turn}`) : null;
    panel.replaceChildren(
      make("button", { type: "button", class: "close", "aria-label": "Close", onclick: close }, "✕"),
      make("h2", {}, `${record.case}#${record.turn}`),
      source ? make("audio", { controls: true, preload: "none", src: source }) : record.audio ? make("p", {}, record.audio) : "",
      ...section("Sound", sound(record)),
      ...section("Heard", marked(record.heard || "", record.spans || [], record.payee), words && words[0] !== words[1] ? edits(...words) : null),
      ...section("Expected", expected(record, wrong)),
      ...section("Outcome", outcome(record)),
      ...section("Derivation", ...derivation(record)),
      ...section("Payee candidates", record.payee && table(["who", "score", ""], record.payee.candidates.map((c) => [c.id === record.payee.choice ? "chosen" : "", `${c.name} (${c.id})`, c.score.toFixed(3), meter(c.score)]))),
      ...section("Hypotheses", table(["", "words", "log-probability"], (record.hypotheses || []).map((h, i) => ["", i + 1, h.text, h.avg_logprob.toFixed(3)]))),
      ...section("Stages", stages(list)),
      ...section("Turns of this call", neighbours(record)),
      ...section("Correct", Labels.form(record)),
    );
    panel.hidden = false;
    panel.scrollTop = 0;
  }

  function close() { panel.hidden = true; opened = null; Table.focus(); }
  function play() {
    const player = panel.querySelector("audio");
    if (player) { if (player.paused) player.play(); else player.pause(); }
  }
  return { open, close, play, isOpen: () => opened !== null, correct: () => { const field = panel.querySelector("form input, form textarea"); if (field) field.focus(); } };
})();
