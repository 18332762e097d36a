// Corrections: kept in this browser, exported as lines that `tellerline label apply` merges into the manifest.
const Labels = (() => {
  const KEY = `tellerline-labels-${Data.run}`;
  const NAMES = ["transcript", "intent", "decision", "outcome", "reply", "route", "payee"];
  const button = document.getElementById("export");
  let kept = {};
  try { kept = JSON.parse(localStorage.getItem(KEY) || "{}"); } catch { kept = {}; }

  function keep() {
    try { localStorage.setItem(KEY, JSON.stringify(kept)); } catch { /* from disk some browsers keep nothing: export still works */ }
    const count = Object.keys(kept).length;
    button.disabled = count === 0;
    button.textContent = count ? `Export corrections (${count})` : "Export corrections";
  }

  const first = (value) => (Array.isArray(value) ? value.join("|") : value ?? "");

  const labelled = (record, name) => first((record.expect || {})[name]);
  const machines = (record) => (record.expect || {}).by_machine || [];

  // What the machine made of the turn: shown behind an empty field, never saved unless a person says so.
  function was(record, name) {
    if (name === "transcript") return record.heard || "";
    if (name === "payee") return (record.payee && record.payee.choice) || "";
    return record[name] || "";
  }

  // Only what a person wrote or ticked: correcting one field says nothing of the others.
  function read(record, form) {
    const expect = {};
    for (const name of NAMES) {
      const value = form.elements[name].value.trim() || (form.elements[`ok-${name}`].checked ? was(record, name) : "");
      if (value && (value !== labelled(record, name) || form.elements[`ok-${name}`].checked)) expect[name] = value.includes("|") ? value.split("|").map((v) => v.trim()) : value;
    }
    const amount = form.elements.amount_minor.value.trim();
    if (/^\d+$/.test(amount)) expect.slots = { ...((record.expect || {}).slots || {}), amount: { amount_minor: Number(amount), currency: form.elements.currency.value.trim().toUpperCase() || null } };
    return { case: record.case, turn: record.turn, expect, whole: false, note: form.elements.note.value.trim() };
  }

  function form(record) {
    const id = `${record.case}#${record.turn}`;
    const saved = kept[id];
    const source = saved ? { ...record, expect: { ...(record.expect || {}), ...saved.expect } } : record;
    const amount = ((source.expect || {}).slots || {}).amount || {};
    const made = (record.slots || {}).amount || {};
    const field = (name, value, placeholder = "") => [make("label", { for: `fix-${name}` }, name), make("input", { id: `fix-${name}`, name, value, placeholder })];
    const named = (name) => [
      ...field(name, labelled(source, name), was(record, name)),
      make("span", {}),
      make("label", { class: "ok" }, make("input", { type: "checkbox", name: `ok-${name}`, checked: saved && name in saved.expect && saved.expect[name] === was(record, name) }),
        machines(record).includes(name) ? " the machine's label is right" : " as it was is right"),
    ];
    const status = make("output", { "aria-live": "polite" }, saved ? "corrected" : "");
    const node = make("form", {},
      NAMES.flatMap(named),
      field("amount_minor", amount.amount_minor ?? "", made.amount_minor ?? ""), field("currency", amount.currency ?? "", made.currency ?? ""), field("note", saved ? saved.note : ""),
      make("div", { class: "buttons" },
        make("button", { type: "submit" }, "Keep correction"),
        make("button", { type: "button", onclick: () => { delete kept[id]; keep(); status.textContent = "dropped"; } }, "Drop"), status));
    node.addEventListener("submit", (event) => {
      event.preventDefault();
      kept[id] = read(record, node);
      keep();
      status.textContent = "kept";
    });
    return node;
  }

  button.addEventListener("click", () => {
    const lines = Object.values(kept).map((label) => JSON.stringify(label)).join("\n") + "\n";
    const link = make("a", { href: URL.createObjectURL(new Blob([lines], { type: "application/x-ndjson" })), download: "corrections.jsonl" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  keep();
  return { form };
})();
