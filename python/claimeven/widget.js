// The board of the notebook widget: an SVG, buttons for its columns, and the exact values below them.

const CELL = 48;

function element(name, attributes, ...children) {
  const isSvg = ["svg", "rect", "circle", "text"].includes(name);
  const made = isSvg
    ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function render({ model, el }) {
  const board = element("div", {});
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
  el.classList.add("claimeven");
  el.append(board, message, controls);

  function draw() {
    const rows = model.get("rows");
    const cols = model.get("cols");
    const cells = model.get("cells");
    const won = new Set(model.get("won"));
    const texts = model.get("values");
    const width = cols * CELL;
    const height = rows * CELL;
    const svg = element("svg", {
      viewBox: `0 0 ${width} ${height + 40}`,
      width: Math.min(width, 640),
      role: "img",
      "aria-label": model.get("description"),
    });
    svg.append(element("rect", { width, height, rx: 10, fill: "#2456a6" }));
    const colours = ["#f6f8fb", "#d8343c", "#f5c518"];
    cells.forEach((cell, index) => {
      const cx = (index % cols) * CELL + CELL / 2;
      const cy = Math.floor(index / cols) * CELL + CELL / 2;
      svg.append(element("circle", { cx, cy, r: 19, fill: colours[cell] }));
      if (won.has(index)) {
        svg.append(element("circle", { cx, cy, r: 9, fill: "none", stroke: "#fff", "stroke-width": 4 }));
      }
    });
    for (let column = 1; column <= cols; column++) {
      const x = (column - 0.5) * CELL;
      const label = element("text", { x, y: height + 15, class: "claimeven-number" }, String(column));
      const value = element("text", { x, y: height + 34, class: "claimeven-value" }, texts[column - 1] ?? "");
      const target = element("rect", {
        x: (column - 1) * CELL,
        width: CELL,
        height: height + 40,
        fill: "transparent",
        tabindex: 0,
        role: "button",
        "aria-label": `Column ${column} ${texts[column - 1] ?? ""}`,
        class: "claimeven-column",
      });
      const play = () => model.send({ action: "play", column });
      target.addEventListener("click", play);
      target.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          play();
        }
      });
      svg.append(label, value, target);
    }
    board.replaceChildren(svg);
    message.textContent = model.get("message");
    moves.value = model.get("moves");
    values.checked = model.get("show_values");
  }

  for (const name of ["cells", "values", "message", "moves", "show_values"]) {
    model.on(`change:${name}`, draw);
  }
  draw();
}

export default { render };
