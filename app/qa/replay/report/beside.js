// Turns that differ, worst first: filters, and what each was then and is now.
const Beside = (() => {
  const PAGE = 50;
  const ORDER = ["worse", "removed", "changed", "better", "added"];
  const by = (id) => document.getElementById(id);
  const turns = JSON.parse(by("data-turns").textContent).sort((a, b) => ORDER.indexOf(a.change) - ORDER.indexOf(b.change));
  const audio = JSON.parse(by("data-audio").textContent);
  const words = turns.map((turn) => JSON.stringify(turn).toLowerCase());
  let found = [];
  let current = -1;

  const verdict = (right) => (right === null ? "unknown" : right ? "yes" : "no");
  const cell = (shown, right) => make("td", { class: verdict(right) }, shown ?? "–", right === false ? " ✗" : right ? " ✓" : "");

  function line(name, then, now) {
    if ((then ?? "") === "" && (now ?? "") === "") return null;
    return make("tr", {}, make("td", {}, name), make("td", {}, then ?? "–"), make("td", {}, now ?? "–"));
  }

  function rules(turn) {
    const then = new Set(turn.rules_then), now = new Set(turn.rules_now);
    const all = [...new Set([...then, ...now])].sort();
    return make("p", { class: "rules" }, all.map((rule) => make(now.has(rule) ? (then.has(rule) ? "code" : "ins") : "del", {}, rule, " ")));
  }

  function card(turn, at) {
    const { then, now } = turn;
    const source = audio[turn.id];
    return make("article", { role: "listitem", tabindex: "-1", "data-at": at, class: turn.change },
      make("h3", {}, `${turn.id}: ${turn.change}`, turn.cause === "none" ? "" : ` by ${turn.cause}`),
      turn.said === null ? null : make("p", {}, `said: ${turn.said}`),
      source ? make("audio", { controls: true, preload: "none", src: source }) : null,
      make("table", {},
        make("thead", {}, make("tr", {}, ["", "then", "now"].map((name) => make("th", { scope: "col" }, name)))),
        make("tbody", {},
          line("heard", then?.heard, now?.heard),
          turn.fields.filter(([name]) => name !== "heard").map(([name, before, wasRight, after, isRight, money]) =>
            make("tr", { class: money ? "money" : null }, make("td", {}, name), cell(before, wasRight), cell(after, isRight))),
          line("told", then?.spoken, now?.spoken))),
      rules(turn));
  }

  function more() {
    const shown = by("list").childElementCount;
    by("list").append(...found.slice(shown, shown + PAGE).map((at) => card(turns[at], at)));
    by("more").hidden = by("list").childElementCount >= found.length;
  }

  function apply() {
    const wanted = by("find").value.trim().toLowerCase();
    const [change, cause, value] = ["by-change", "by-cause", "by-value"].map((id) => by(id).value);
    found = [...turns.keys()].filter((at) => {
      const turn = turns[at];
      return (!wanted || words[at].includes(wanted)) && (!change || turn.change === change) && (!cause || turn.cause === cause) &&
        (!value || turn.fields.some(([name]) => name === value));
    });
    by("count").textContent = `${found.length} of ${turns.length} turns that differ`;
    by("list").replaceChildren();
    current = -1;
    more();
  }

  function go(step) {
    const cards = by("list").children;
    current = Math.max(0, Math.min(cards.length - 1, current + step));
    if (current === cards.length - 1 && !by("more").hidden) more();
    cards[current]?.focus();
  }

  ["by-change", "by-cause", "by-value"].forEach((id) => by(id).addEventListener("change", apply));
  by("find").addEventListener("input", apply);
  by("more").addEventListener("click", more);
  addEventListener("keydown", (event) => {
    if (event.target.matches("input, select, audio, button, summary") || event.ctrlKey || event.metaKey || event.altKey) return;
    const player = document.activeElement?.querySelector?.("article audio, audio");
    if (event.key === "j") go(1);
    else if (event.key === "k") go(-1);
    else if (event.key === " " && player) { event.preventDefault(); if (player.paused) player.play(); else player.pause(); }
  });
  apply();
  document.documentElement.dataset.ready = "true";
})();
