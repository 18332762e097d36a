// Filters, keys and the colour scheme: what ties the parts together.
const Page = (() => {
  const by = (id) => document.getElementById(id);
  const find = by("find");
  const show = by("show");
  let group = null;
  const CHOICES = ["locale", "route", "decision", "intent"];
  const tests = {
    wrong: (row) => Data.get(row, "right") === false,
    right: (row) => Data.get(row, "right") === true,
    unjudged: (row) => Data.get(row, "right") === null,
    money: (row) => ["false_accept", "wrong_read_back"].includes(Data.get(row, "money")),
    misheard: (row) => Data.get(row, "errors") > 0,
    model: (row) => Data.get(row, "models") > 0,
    parted: (row) => Data.get(row, "parted"),
    error: (row) => Data.get(row, "error") !== null,
  };

  function fill(select, values) {
    select.append(make("option", { value: "" }, "all"), ...[...new Set(values)].filter(Boolean).sort().map((v) => make("option", { value: v }, v)));
  }

  const words = Data.rows.map((row) => ["id", "said", "heard", "reply", "intent", "wanted", "error"].map((n) => Data.get(row, n) ?? "").join(" ").toLowerCase());
  const place = new Map(Data.rows.map((row, i) => [row, i]));

  function apply() {
    const wanted = find.value.trim().toLowerCase();
    const verdict = tests[show.value];
    const chosen = CHOICES.map((name) => [name, by(`by-${name}`).value]).filter(([, value]) => value);
    const tag = by("by-tag").value;
    const count = Table.filter((row) =>
      (!group || Data.get(row, "why").includes(group)) &&
      (!wanted || words[place.get(row)].includes(wanted)) && (!verdict || verdict(row)) &&
      chosen.every(([name, value]) => Data.get(row, name) === value) && (!tag || Data.get(row, "tags").split(" ").includes(tag)));
    by("count").textContent = `${count} of ${Data.rows.length} turns`;
  }

  // One group of failures at a time: a second press lets all turns in again.
  function choose(id, line) {
    group = group === id ? null : id;
    for (const other of document.querySelectorAll("#why tbody tr")) {
      const on = other === line && group !== null;
      other.toggleAttribute("data-on", on);
      other.querySelector("button").setAttribute("aria-pressed", String(on));
    }
    apply();
    if (group) by("turns").scrollIntoView();
  }
  document.querySelectorAll("#why tbody tr").forEach((line) => line.addEventListener("click", () => choose(line.dataset.group, line)));

  function openId(id) {
    let at = Table.find(id);
    if (at < 0) {
      if (group) choose(group);
      find.value = show.value = by("by-tag").value = "";
      CHOICES.forEach((name) => { by(`by-${name}`).value = ""; });
      apply();
      at = Table.find(id);
    }
    if (at >= 0) { Table.go(at); Table.open(); }
  }

  CHOICES.forEach((name) => fill(by(`by-${name}`), Data.rows.map((row) => Data.get(row, name))));
  fill(by("by-tag"), Data.rows.flatMap((row) => Data.get(row, "tags").split(" ")));
  [show, by("by-tag"), ...CHOICES.map((name) => by(`by-${name}`))].forEach((select) => select.addEventListener("change", apply));
  find.addEventListener("input", apply);
  find.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === "ArrowDown") { event.preventDefault(); Table.focus(); } });

  addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, textarea, select, audio");
    if (event.key === "Escape" && Detail.isOpen()) Detail.close();
    else if (event.key === "Escape" && typing) event.target.blur();
    else if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    else if (event.key === "/") { event.preventDefault(); find.focus(); }
    else if (event.key === " " && Detail.isOpen() && !event.target.matches("button, summary")) { event.preventDefault(); Detail.play(); }
    else if (event.key === "c" && Detail.isOpen()) { event.preventDefault(); Detail.correct(); }
  });

  const scheme = by("scheme");
  const dark = () => (document.documentElement.dataset.scheme ? document.documentElement.dataset.scheme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  const label = () => { scheme.textContent = dark() ? "Light" : "Dark"; scheme.setAttribute("aria-pressed", String(dark())); };
  scheme.addEventListener("click", () => { document.documentElement.dataset.scheme = dark() ? "light" : "dark"; label(); });
  label();

  Table.whenOpened(Detail.open);
  apply();
  if (location.hash.startsWith("#turn=")) openId(decodeURIComponent(location.hash.slice(6)));
  document.documentElement.dataset.ready = "true";
  return { openId };
})();
