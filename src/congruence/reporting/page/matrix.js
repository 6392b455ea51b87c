// --- 2. all pairs -----------------------------------------------------------------------------------------------
const heat = $("heat");
let grid = null; // where the cells are in the canvas
const drawHeat = () => {
  const m = M[state.measure], order = m.order(), width = Math.min(heat.parentElement.clientWidth, 760);
  const named = L <= 40 && (width * 0.6) / L >= 10, face = "12px system-ui, sans-serif";
  const probe = heat.getContext("2d"); probe.font = face;
  const most = width < 480 ? 14 : 28, labels = Array.from(order, (i) => short(starred(i), most));
  const left = named ? Math.min(Math.max(...labels.map((t) => probe.measureText(t).width)) + 18, width * 0.42) : 12, top = L > 2 ? 84 : 8;
  const size = Math.max((width - left - 2) / L, 0.2), side = size * L;
  const shown = Math.min(side, L <= 12 ? L * 46 : side), step = shown / L;
  const c = sharp(heat, width, top + shown + 4);
  grid = { left, top, step, shown, order };
  c.clearRect(0, 0, width, top + shown + 4);
  const image = new ImageData(L, L), none = css("--none").split(",").map(Number);
  for (let r = 0; r < L; r++) for (let k = 0; k < L; k++) {
    const v = value(m, order[r], order[k]), p = Number.isNaN(v) ? none : viridis(shade(m, v)), at = 4 * (r * L + k);
    image.data[at] = p[0]; image.data[at + 1] = p[1]; image.data[at + 2] = p[2]; image.data[at + 3] = 255;
  }
  const small = document.createElement("canvas"); small.width = small.height = L;
  small.getContext("2d").putImageData(image, 0, 0);
  c.imageSmoothingEnabled = step < 1;
  c.drawImage(small, left, top, shown, shown);
  if (D.groups_count > 1) for (let r = 0; r < L; r++) { // groups of clusterings, as strips
    const g = D.group[order[r]];
    c.fillStyle = g < 0 ? css("--fg") : rgb(clusterColour(g));
    c.fillRect(left - 8, top + r * step, 5, Math.max(step, 0.6));
  }
  if (named) {
    c.font = face; c.textAlign = "right"; c.textBaseline = "middle"; c.fillStyle = css("--fg");
    labels.forEach((t, r) => c.fillText(t, left - 12, top + (r + 0.5) * step, left - 14));
  }
  if (L > 2) {
    const b = m.branches(), high = Math.max(...Array.from({ length: L - 1 }, (_, i) => b[5 * i + 4])) || 1;
    const x = (p) => left + (p + 0.5) * step, y = (h) => top - 6 - h / high * (top - 16);
    c.strokeStyle = css("--muted"); c.lineWidth = L > 150 ? 0.6 : 1; c.beginPath();
    for (let i = 0; i < L - 1; i++) {
      const [p, q, hp, hq, h] = b.subarray(5 * i, 5 * i + 5);
      c.moveTo(x(p), y(hp)); c.lineTo(x(p), y(h)); c.lineTo(x(q), y(h)); c.lineTo(x(q), y(hq));
    }
    c.stroke();
  }
  const marked = state.cursor || (state.pair && [order.indexOf(state.pair[0]), order.indexOf(state.pair[1])]);
  if (marked) {
    const w = Math.max(step, 6);
    for (const [line, colour] of [[4, "#000"], [2, "#fff"]]) {
      c.lineWidth = line; c.strokeStyle = colour;
      c.strokeRect(left + (marked[1] + 0.5) * step - w / 2, top + (marked[0] + 0.5) * step - w / 2, w, w);
    }
  }
  const [a, b] = domain(m);
  legend($("heat-legend"), fmt(a), fmt(b), (t) => viridis(m.better === "higher" ? t : 1 - t), `${m.title}, ${arrow(m)}`);
  $("measure-note").textContent = m.caution ? `Caution: ${m.caution}.` : "";
};
const cellAt = (event) => {
  if (!grid) return null;
  const box = heat.getBoundingClientRect(), k = Math.floor((event.clientX - box.left - grid.left) / grid.step), r = Math.floor((event.clientY - box.top - grid.top) / grid.step);
  return r >= 0 && k >= 0 && r < L && k < L ? [r, k] : null;
};
const words = (i, j) => [starred(i), starred(j), ...(i === j ? ["the same clustering"] : M.map((m) => `${m.key} ${fmt(value(m, i, j))}`))];
heat.addEventListener("mousemove", (e) => {
  const at = cellAt(e);
  if (at) showTip(e.clientX, e.clientY, words(grid.order[at[0]], grid.order[at[1]])); else hideTip();
});
heat.addEventListener("mouseleave", hideTip);
heat.addEventListener("click", (e) => { const at = cellAt(e); if (at) choose(grid.order[at[0]], grid.order[at[1]]); });
heat.addEventListener("keydown", (e) => {
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[e.key];
  const order = M[state.measure].order();
  if (step) {
    const at = state.cursor || [order.indexOf(state.pair[0]), order.indexOf(state.pair[1])];
    state.cursor = [0, 1].map((x) => Math.max(0, Math.min(L - 1, at[x] + step[x])));
    $("heat-said").textContent = words(order[state.cursor[0]], order[state.cursor[1]]).join(", ");
    drawHeat(); e.preventDefault();
  } else if ((e.key === "Enter" || e.key === " ") && state.cursor) {
    choose(order[state.cursor[0]], order[state.cursor[1]]); e.preventDefault();
  }
});
const drawMap = () => {
  const chosen = M[state.measure], m = chosen.place ? chosen : M.find((x) => x.place), box = $("map");
  if (!m) return fill(box, el("p", { class: "muted" }, L < 3 ? "A map needs three clusterings or more." : "None of the measures is a distance, so there is no map."));
  const p = m.place(), w = Math.min(box.clientWidth || 400, 520), h = Math.round(w * 0.82), pad = 26;
  const xs = Array.from({ length: L }, (_, i) => p[2 * i]), ys = Array.from({ length: L }, (_, i) => p[2 * i + 1]);
  const span = Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys)) || 1;
  const mx = (Math.max(...xs) + Math.min(...xs)) / 2, my = (Math.max(...ys) + Math.min(...ys)) / 2, s = Math.min(w, h) - 2 * pad;
  const at = (i) => [w / 2 + (xs[i] - mx) / span * s, h / 2 - (ys[i] - my) / span * s];
  const dots = [];
  const sequence = Array.from({ length: L }, (_, i) => i).sort((a, b) => (a === D.reference) - (b === D.reference) || (a === D.central) - (b === D.central));
  for (const i of sequence) {
    const [x, y] = at(i), special = i === D.reference || i === D.central;
    const fillColour = i === D.reference ? css("--fg") : rgb(clusterColour(Math.max(D.group[i], 0)));
    const shape = i === D.reference ? svg("path", { d: star(x, y, 9), fill: fillColour })
      : svg("circle", { cx: x, cy: y, r: special ? 7 : L > 150 ? 3.5 : 5, fill: fillColour, "fill-opacity": 0.75, stroke: special ? css("--fg") : css("--bg"), "stroke-width": special ? 2 : 0.7 });
    shape.addEventListener("mousemove", (e) => showTip(e.clientX, e.clientY, [starred(i), `${D.ks[i]} clusters`, i === D.central ? "the most central" : `mean ${M[0].key} ${fmt(D.means[i])}`]));
    shape.addEventListener("mouseleave", hideTip);
    shape.addEventListener("click", () => choose(D.reference === null || i === D.reference ? D.central : D.reference, i));
    dots.push(shape);
    if (L <= 12 || special) dots.push(svg("text", { x: x + 9 > w - 90 ? x - 9 : x + 9, y: y + 4, "text-anchor": x + 9 > w - 90 ? "end" : "start", class: "small" }, short(D.names[i], 22)));
  }
  fill(box, svg("svg", { width: w, height: h, viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": `Map of the clusterings by ${m.title}` }, dots),
    el("p", { class: "muted" }, (m === chosen ? "" : `${chosen.key} is not a distance, so the map is by ${m.key}. `) + `Near one another means alike by ${m.title} (classical scaling; the plane shows ${Math.round(m.shown * 100)}% of the squared distances).` +
      (D.groups_count > 1 ? " Colours are the groups of the summary." : "") + (D.reference === null ? "" : " ★ is the reference.")));
};
const star = (x, y, r) => Array.from({ length: 10 }, (_, i) => {
  const a = Math.PI * (i / 5 - 0.5), d = i % 2 ? r * 0.45 : r;
  return `${i ? "L" : "M"}${(x + d * Math.cos(a)).toFixed(1)},${(y + d * Math.sin(a)).toFixed(1)}`;
}).join("") + "Z";
