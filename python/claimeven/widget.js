// The board of the notebook widget: an SVG whose columns are buttons, with the exact values below them.

const CELL = 48;
const COLOURS = ["#f6f8fb", "#d8343c", "#f5c518"];
// The shapes that distinguish the discs besides their colours: a cross and a ring.
const MARKS = ["", "M-6-6 6 6M-6 6 6-6", "M-6 0a6 6 0 1 0 12 0 6 6 0 1 0-12 0"];

function element(name, attributes, ...children) {
  const isSvg = ["svg", "g", "rect", "circle", "path", "text"].includes(name);
  const made = isSvg
    ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** The empty board with its buttons, and the functions that update it when the model changes. */
function makeBoard(rows, cols, play) {
  const [width, height] = [cols * CELL, rows * CELL];
  const svg = element("svg", {
    viewBox: `0 0 ${width} ${height + 40}`,
    width: Math.min(width, 640),
    class: "claimeven-board",
    role: "group",
  });
  svg.append(element("rect", { width, height, rx: 10, fill: "#2456a6" }));
  const cells = Array.from({ length: rows * cols }, (_, index) => {
    const [x, y] = [((index % cols) + 0.5) * CELL, (Math.floor(index / cols) + 0.5) * CELL];
    const disc = element("circle", { r: 19 });
    const mark = element("path", { fill: "none", stroke: "#0006", "stroke-width": 3, "stroke-linecap": "round" });
    const ring = element("circle", { r: 15, fill: "none", stroke: "#fff", "stroke-width": 4, visibility: "hidden" });
    svg.append(element("g", { transform: `translate(${x} ${y})` }, disc, mark, ring));
    return { disc, mark, ring };
  });
  const columns = Array.from({ length: cols }, (_, index) => {
    const x = (index + 0.5) * CELL;
    const value = element("text", { x, y: height + 34, class: "claimeven-value" });
    const target = element("rect", {
      x: index * CELL,
      width: CELL,
      height: height + 40,
      tabindex: 0,
      role: "button",
      class: "claimeven-column",
    });
    target.addEventListener("click", () => play(index + 1));
    target.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        play(index + 1);
      }
    });
    svg.append(element("text", { x, y: height + 15 }, String(index + 1)), value, target);
    return { value, target };
  });
  return {
    svg,
    showDiscs(discs, won) {
      discs.forEach((disc, index) => {
        cells[index].disc.setAttribute("fill", COLOURS[disc]);
        cells[index].mark.setAttribute("d", MARKS[disc]);
        cells[index].ring.setAttribute("visibility", won.has(index) ? "visible" : "hidden");
      });
    },
    showValues(texts) {
      columns.forEach(({ value, target }, index) => {
        value.textContent = texts[index] ?? "";
        target.setAttribute("aria-label", `Column ${index + 1} ${value.textContent}`.trim());
      });
    },
  };
}

function render({ model, el }) {
  const place = element("div", {});
  const message = element("div", { role: "status", class: "claimeven-message" });
  const moves = element("input", { "aria-label": "Moves", spellcheck: "false", placeholder: "moves, such as 4453" });
  const values = element("input", { type: "checkbox" });
  const button = (text, action) => {
    const made = element("button", { type: "button" }, text);
    made.addEventListener("click", () => model.send({ action }));
    return made;
  };
  moves.addEventListener("change", () => model.send({ action: "set", moves: moves.value.trim() }));
  values.addEventListener("change", () => {
    model.set("show_values", values.checked);
    model.save_changes();
  });
  const controls = element(
    "div",
    { class: "claimeven-controls" },
    button("Undo", "undo"),
    button("New game", "reset"),
    button("Best move", "best"),
    moves,
    element("label", {}, values, " exact values"),
  );
  const board = makeBoard(model.get("rows"), model.get("cols"), (column) => model.send({ action: "play", column }));
  place.append(board.svg);
  el.classList.add("claimeven");
  el.append(place, message, controls);

  function draw() {
    board.showDiscs(model.get("cells"), new Set(model.get("won")));
    board.showValues(model.get("values"));
    board.svg.setAttribute("aria-label", model.get("description"));
    message.textContent = model.get("message");
    moves.value = model.get("moves");
    values.checked = model.get("show_values");
  }

  const names = ["cells", "won", "values", "message", "description", "moves", "show_values"];
  for (const name of names) model.on(`change:${name}`, draw);
  draw();
  return () => {
    for (const name of names) model.off(`change:${name}`, draw);
  };
}

export default { render };
