// The table: only the rows in sight exist, so five thousand open as fast as fifty.
const Table = (() => {
  const HEIGHT = 32;
  const SPARE = 8;
  const COLUMNS = [
    ["right", "", "sort by verdict"], ["id", "turn", "sort by turn"], ["locale", "locale", "sort by locale"],
    ["heard", "heard", "sort by words"], ["intent", "intent", "sort by intent"], ["decision", "decision", "sort by decision"],
    ["route", "route", "sort by route"], ["ms", "ms", "sort by milliseconds"],
  ];
  const grid = document.getElementById("grid");
  const body = make("div", { role: "rowgroup" });
  const shown = new Map();
  let order = Data.rows.map((_, i) => i);
  let current = 0;
  let sorted = { name: null, down: false };
  let onOpen = () => {};

  const verdict = (row) => {
    const right = Data.get(row, "right");
    if (right === null) return ["·", "unknown", "not judged"];
    return right ? ["✓", "yes", "right"] : ["✗", "no", "wrong"];
  };

  function cell(row, name) {
    if (name === "right") {
      const [sign, kind, words] = verdict(row);
      return make("span", { role: "gridcell", class: kind, "aria-label": words }, sign);
    }
    const value = Data.get(row, name);
    const words = value === null || value === "" ? "–" : String(value);
    return make("span", { role: "gridcell", class: name === "ms" ? "number" : null, title: name === "heard" ? words : null }, words);
  }

  function draw() {
    const first = Math.max(0, Math.floor(grid.scrollTop / HEIGHT) - SPARE);
    const last = Math.min(order.length, Math.ceil((grid.scrollTop + grid.clientHeight) / HEIGHT) + SPARE);
    for (const [at, node] of shown) {
      if (at < first || at >= last) { node.remove(); shown.delete(at); }
    }
    for (let at = first; at < last; at++) {
      if (!shown.has(at)) {
        const row = Data.rows[order[at]];
        const node = make("div", { role: "row", class: "row", id: `row-${at}`, "aria-rowindex": at + 2 }, COLUMNS.map(([name]) => cell(row, name)));
        node.style.top = `${at * HEIGHT}px`;
        node.addEventListener("click", () => { go(at); open(); });
        body.append(node);
        shown.set(at, node);
      }
      shown.get(at).setAttribute("aria-selected", String(at === current));
    }
    if (shown.has(current)) grid.setAttribute("aria-activedescendant", `row-${current}`);
    else grid.removeAttribute("aria-activedescendant");
  }

  function redraw() {
    for (const node of shown.values()) node.remove();
    shown.clear();
    body.style.height = `${order.length * HEIGHT}px`;
    grid.setAttribute("aria-rowcount", order.length + 1);
    draw();
  }

  function go(at) {
    if (!order.length) return;
    current = Math.max(0, Math.min(order.length - 1, at));
    const top = current * HEIGHT;
    const page = grid.clientHeight - HEIGHT;
    if (top < grid.scrollTop) grid.scrollTop = top;
    else if (top + HEIGHT > grid.scrollTop + page) grid.scrollTop = top + HEIGHT - page;
    draw();
  }

  function open() { if (order.length) onOpen(order[current]); }

  function compare(a, b) {
    if (a === b) return 0;
    if (a === null || a === undefined) return -1;
    if (b === null || b === undefined) return 1;
    return a < b ? -1 : 1;
  }

  function arrange() {
    if (sorted.name === null) order.sort((a, b) => a - b);
    else order.sort((a, b) => (sorted.down ? -1 : 1) * compare(Data.get(Data.rows[a], sorted.name), Data.get(Data.rows[b], sorted.name)) || a - b);
  }

  function sortBy(name, header) {
    sorted = { name, down: sorted.name === name && !sorted.down };
    for (const other of header.parentElement.children) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
    arrange();
    current = 0;
    grid.scrollTop = 0;
    redraw();
  }

  function heading([name, label, hint]) {
    const header = make("span", { role: "columnheader" });
    header.append(make("button", { type: "button", "aria-label": hint, onclick: () => sortBy(name, header) }, label || "✓"));
    return header;
  }

  const KEYS = {
    ArrowDown: () => go(current + 1), ArrowUp: () => go(current - 1),
    PageDown: () => go(current + Math.floor(grid.clientHeight / HEIGHT) - 2),
    PageUp: () => go(current - Math.floor(grid.clientHeight / HEIGHT) + 2),
    Home: () => go(0), End: () => go(order.length - 1), Enter: open,
  };
  grid.addEventListener("keydown", (event) => {
    const act = event.target === grid && KEYS[event.key];
    if (act) { event.preventDefault(); act(); }
  });
  grid.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
  addEventListener("resize", draw);
  grid.append(make("div", { role: "row", class: "head", "aria-rowindex": 1 }, COLUMNS.map(heading)), body);
  grid.style.maxHeight = `${(Math.max(order.length, 10) + 1.2) * HEIGHT}px`;
  redraw();

  return {
    filter(test) {
      order = [];
      Data.rows.forEach((row, i) => { if (test(row)) order.push(i); });
      arrange();
      current = 0;
      grid.scrollTop = 0;
      redraw();
      return order.length;
    },
    go, open, focus: () => grid.focus(),
    find(id) { return order.findIndex((i) => Data.get(Data.rows[i], "id") === id); },
    whenOpened(listener) { onOpen = listener; },
  };
})();
