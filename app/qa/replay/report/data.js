// What the page was given: short rows at once, the long details only when one is opened.
const Data = (() => {
  const table = JSON.parse(document.getElementById("data-table").textContent);
  const place = Object.fromEntries(table.columns.map((name, i) => [name, i]));
  let lines = null;
  let audio = null;
  return {
    rows: table.rows,
    run: table.run,
    get: (row, name) => row[place[name]],
    detail(index) {
      lines ??= document.getElementById("data-details").textContent.split("\n");
      return JSON.parse(lines[index]);
    },
    audio(turn) {
      audio ??= JSON.parse(document.getElementById("data-audio").textContent);
      return Object.hasOwn(audio, turn) ? audio[turn] : null;
    },
  };
})();
