// --- how they relate: matrix and map -------------------------------------------------------------------------------------
const hasNames = (width, n) => (width * 0.6) / n >= 10, namedRows = (width) => Math.min(24, Math.floor(width * 0.06));
const images = new Map(); // drawn once for each measure, order and theme: moving over a large matrix must not redraw it
const matrixImage = (m, order) => {
  const n = order.length, key = [m.key, isDark(), n, order[0], order[n - 1], order.reduce((s, i, x) => (s * 31 + i * (x + 1)) % 1000003, 7)].join();
  if (images.has(key)) return images.get(key);
  if (images.size > 12) images.clear();
  const image = new ImageData(n, n), pixels = new Uint32Array(image.data.buffer), none = css("--none").split(",").map(Number);
  const packedColour = (p) => (255 << 24 | p[2] << 16 | p[1] << 8 | p[0]) >>> 0, table1024 = Uint32Array.from(range(1025), (i) => packedColour(viridis(i / 1024))), empty = packedColour(none);
  for (let r = 0; r < n; r++) {
    pixels[r * n + r] = empty;
    for (let k = r + 1; k < n; k++) {
      const v = value(m, order[r], order[k]), at = Number.isNaN(v) ? empty : table1024[Math.max(0, Math.min(1024, Math.round(shade(m, v) * 1024)))];
      pixels[r * n + k] = at; pixels[k * n + r] = at;
    }
  }
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = n;
  canvas.getContext("2d").putImageData(image, 0, 0);
  images.set(key, canvas);
  return canvas;
};
const FACE = "12px system-ui, sans-serif";
const paintMatrix = (canvas, width, m, order, options = {}) => { // returns where the cells are
  if (!canvas.isRecorder) painters.set(canvas, (to) => paintMatrix(to, width, m, order, { ...options, marks: [] }));
  const n = order.length, probe = canvas.getContext("2d");
  const face = `${Math.max(9, Math.min(12, Math.floor(width * 0.6 / n * 0.95)))}px system-ui, sans-serif`;
  probe.font = face;
  const named = hasNames(width, n), most = width < 480 ? 14 : 30, texts = order.map((i) => short(starred(i), most));
  const left = named ? Math.min(Math.max(...texts.map((t) => probe.measureText(t).width), 0) + (D.groups.length > 1 ? 28 : 14), width * 0.45) : D.groups.length > 1 ? 18 : 4, top = options.tree ? 84 : 6;
  let side = Math.min(width - left - 2, n <= 12 ? n * 46 : width);
  if (options.tall) side = Math.max(Math.min(side, options.tall), 60);
  const step = side / n, c = sharp(canvas, width, top + side + 4);
  c.clearRect(0, 0, width, top + side + 4);
  const small = matrixImage(m, order);
  c.imageSmoothingEnabled = step < 1;
  c.drawImage(small, left, top, side, side);
  c.font = named ? face : FACE; c.textBaseline = "middle"; c.fillStyle = css("--fg");
  const strip = D.groups.length > 1 ? 16 : 0; // room for the families
  if (named) { c.textAlign = "right"; texts.forEach((t, r) => c.fillText(t, left - 8 - strip, top + (r + 0.5) * step, left - 10 - strip)); }
  if (D.groups.length > 1) { // groups of similar clusterings, as strips with numerals
    const where = new Map();
    order.forEach((i, r) => { const g = D.group[i]; if (g >= 0) { c.fillStyle = rgb(familyColour(g)); c.fillRect(left - strip, top + r * step, strip - 3, Math.max(step, 0.6)); where.set(g, [...(where.get(g) || []), r]); } });
    c.textAlign = "center";
    for (const [g, rows] of where) { // the numeral in the middle of each run of rows
      let from = 0;
      for (let x = 1; x <= rows.length; x++) if (x === rows.length || rows[x] !== rows[x - 1] + 1) {
        const size = (rows[x - 1] - rows[from] + 1) * step;
        if (size >= 12) { c.fillStyle = readable(familyColour(g)); c.fillText(numeral(g), left - strip / 2 - 1.5, top + (rows[from] + rows[x - 1] + 1) / 2 * step, strip - 4); }
        from = x;
      }
    }
  }
  if (options.tree && n === L && n > 2) {
    const b = m.branches(), high = Math.max(...range(L - 1).map((i) => b[5 * i + 4])) || 1, x = (p) => left + (p + 0.5) * step, y = (h) => top - 6 - h / high * (top - 16);
    c.strokeStyle = css("--muted"); c.lineWidth = L > 150 ? 0.6 : 1; c.beginPath();
    for (let i = 0; i < L - 1; i++) {
      const [p, q, hp, hq, h] = b.subarray(5 * i, 5 * i + 5);
      c.moveTo(x(p), y(hp)); c.lineTo(x(p), y(h)); c.lineTo(x(q), y(h)); c.lineTo(x(q), y(hq));
    }
    c.stroke();
  }
  for (const [r, k, w] of options.marks || []) for (const [line, colour] of [[4, "#000"], [2, "#fff"]]) {
    const size = Math.max(w * step, 6);
    c.lineWidth = line; c.strokeStyle = colour;
    c.strokeRect(left + (k + w / 2) * step - size / 2, top + (r + w / 2) * step - size / 2, size, size);
  }
  return { left, top, step, order };
};
const heat = $("heat"), zoom = $("zoom");
let grid = null, zoomed = null, cursor = null;
const orderNow = () => Array.from(M[state.measure].order());
const drawMatrix = () => {
  if (L < 2) return;
  const m = M[state.measure], order = orderNow(), width = Math.min(heat.parentElement.clientWidth, 700);
  const at = cursor || [order.indexOf(state.compare[0]), order.indexOf(state.compare[1])], marks = at[0] >= 0 && at[1] >= 0 ? [[at[0], at[1], 1]] : [];
  const isSmall = !hasNames(width, L), many = namedRows(width);
  const [corner, across] = at.map((x) => Math.max(0, Math.min(L - many, Math.round(x - many / 2))));
  if (isSmall && corner === across) marks.push([corner, across, many]);
  grid = paintMatrix(heat, width, m, order, { tree: true, marks });
  zoom.parentElement.hidden = !isSmall;
  if (isSmall) {
    const rows = order.slice(corner, corner + many);
    zoomed = paintMatrix(zoom, width, m, rows, { marks: [[at[0] - corner, rows.indexOf(order[at[1]]), 1]].filter((x) => x[1] >= 0) });
  }
  const [a, b] = domain(m);
  fill($("heat-legend"), familyKeys(), legend(fmt(a), fmt(b), (t) => viridis(m.better === "higher" ? t : 1 - t), `${m.plain}, ${arrow(m)}`));
  $("measure-note").textContent = [m.caution && `Caution: ${m.caution}.`, isRelative(m) && "Shown relative to the self-scores of the two."].filter(Boolean).join(" ");
};
const matrixRows = () => { const m = M[state.measure], o = orderNow(); return [["clustering", ...o.map((i) => D.names[i])], ...o.map((i) => [D.names[i], ...o.map((j) => i === j ? "" : Number(value(m, i, j).toPrecision(6)))])]; };
const pairRows = () => { const rows = [["a", "b", ...M.map((m) => m.title)]]; for (let i = 0; i < L; i++) for (let j = i + 1; j < L; j++) rows.push([D.names[i], D.names[j], ...M.map((m) => Number(raw(m, i, j).toPrecision(6)))]); return rows; };
const cellAt = (event, canvas, where) => {
  if (!where) return null;
  const box = canvas.getBoundingClientRect(), k = Math.floor((event.clientX - box.left - where.left) / where.step), r = Math.floor((event.clientY - box.top - where.top) / where.step);
  return r >= 0 && k >= 0 && r < where.order.length && k < where.order.length ? [where.order[r], where.order[k]] : null;
};
const pairWords = (i, j) => [starred(i), starred(j), ...(i === j ? ["the same clustering"] : M.map((m) => `${m.plain}: ${fmt(value(m, i, j))}`))];
for (const [canvas, where] of [[heat, () => grid], [zoom, () => zoomed]]) {
  canvas.addEventListener("mousemove", (e) => { const at = cellAt(e, canvas, where()); if (at) showTip(e.clientX, e.clientY, pairWords(...at)); else hideTip(); });
  canvas.addEventListener("mouseleave", hideTip);
  canvas.addEventListener("click", (e) => { const at = cellAt(e, canvas, where()); if (at && at[0] !== at[1]) choose(at); });
}
heat.addEventListener("keydown", (e) => {
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[e.key], order = orderNow();
  if (step) {
    const at = cursor || [order.indexOf(state.compare[0]), order.indexOf(state.compare[1])];
    cursor = [0, 1].map((x) => Math.max(0, Math.min(L - 1, at[x] + step[x])));
    $("heat-said").textContent = pairWords(order[cursor[0]], order[cursor[1]]).slice(0, 3).join(", ");
    drawMatrix(); e.preventDefault();
  } else if ((e.key === "Enter" || e.key === " ") && cursor) {
    const [a, b] = cursor.map((x) => order[x]);
    if (a !== b) choose([a, b]);
    e.preventDefault();
  }
});
const familyKeys = () => D.groups.length > 1 ? el("div", { class: "legend" }, D.groups.map(([name, many], g) => el("span", { class: "key" }, el("span", { class: "numeral", style: `background:${rgb(familyColour(g))};color:${readable(familyColour(g))}` }, numeral(g)), `${plural(many, "clustering")} like ${short(name, 26)}`))) : null;
const drawMap = () => {
  if (L < 2) return;
  const chosen = M[state.measure], m = chosen.place ? chosen : M.find((x) => x.place), box = $("map");
  if (!m) return fill(box, el("p", { class: "muted" }, L < 3 ? "A map needs three clusterings or more." : "None of the measures is a distance, so there is no map."));
  const p = m.place(), w = Math.min(box.clientWidth || 400, 560), h = Math.round(w * 0.82), pad = 26;
  const xs = range(L).map((i) => p[2 * i]), ys = range(L).map((i) => p[2 * i + 1]);
  const span = Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys)) || 1;
  const mx = (Math.max(...xs) + Math.min(...xs)) / 2, my = (Math.max(...ys) + Math.min(...ys)) / 2, s = Math.min(w, h) - 2 * pad;
  const at = (i) => [w / 2 + (xs[i] - mx) / span * s, h / 2 - (ys[i] - my) / span * s], dots = [], words = state.search.toLowerCase();
  const special = (i) => i === D.reference || (i === D.central && A.isGiven);
  const order = range(L).sort((a, b) => (a === D.reference) - (b === D.reference) || special(a) - special(b));
  const meets = (a, b) => b[0] < a[0] + a[2] && a[0] < b[0] + b[2] && b[1] < a[1] + a[3] && a[1] < b[1] + b[3];
  for (const i of order) {
    const [x, y] = at(i), colour = i === D.reference ? css("--fg") : D.group[i] >= 0 ? rgb(familyColour(D.group[i])) : rgb(GREY), faint = state.hidden.has(i) || (words && !D.names[i].toLowerCase().includes(words));
    const shape = i === D.reference ? svg("path", { d: star(x, y, 9), fill: colour })
      : svg("circle", { cx: x, cy: y, r: special(i) ? 8 : L > 150 ? 3.5 : D.groups.length > 1 ? 6.5 : 5, fill: colour, "fill-opacity": faint ? 0.12 : D.groups.length > 1 ? 0.9 : 0.75, stroke: special(i) ? css("--fg") : css("--bg"), "stroke-width": special(i) ? 2 : 0.7 });
    hint(shape, [starred(i), plural(D.ks[i], "cluster"), D.trivial[i] || null, `agreement with the others: ${fmt(meanNow(i))}`]);
    shape.addEventListener("click", () => choose([otherThan(i), i]));
    dots.push(shape);
    if (L <= 150 && D.groups.length > 1 && D.group[i] >= 0 && i !== D.reference && !faint) dots.push(svg("text", { x, y: y + 3, "text-anchor": "middle", style: `font-size:8px;pointer-events:none;fill:${readable(familyColour(D.group[i]))}` }, numeral(D.group[i])));
  }
  const discs = range(L).map((i) => { const [x, y] = at(i); return [x - 6, y - 6, 12, 12]; }), named = [];
  for (const i of order.reverse()) { // the special ones have their names, others where there is room
    if (L > 40 && !special(i)) continue;
    const [x, y] = at(i), text = short(D.names[i], 22), long = lengthOf(text), spots = [x + 12, x - 12 - long].map((left) => [left, y - 8, long, 16]);
    const inside = spots.filter((spot) => spot[0] >= 0 && spot[0] + long <= w && !named.some((other) => meets(spot, other))), free = inside.find((spot) => !discs.some((disc) => meets(spot, disc)));
    const place = free || (special(i) || L <= 12 ? inside[0] : null);
    if (!place) continue;
    named.push(place);
    dots.push(svg("text", { x: place[0].toFixed(1), y: y + 4, class: "small halo" }, text));
  }
  const keys = familyKeys(), outside = D.groups.length > 1 ? el("div", { class: "legend" },
    D.own.some((i) => D.group[i] < 0) ? el("span", { class: "key" }, el("span", { class: "swatch", style: `background:${rgb(GREY)}` }), "like no others, or set aside") : null) : null;
  fill(box, svg("svg", { width: w, height: h, viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": `Map of the clusterings by ${m.title}` }, dots), keys, outside,
    el("p", { class: "muted" }, `Clusterings close to each other are similar by ${m.plain || m.title}. The map shows ${percent(m.shown)} of the squared distances.` + (D.reference === null ? "" : " ★ is the reference.")),
    saver("map", () => box.querySelector("svg"), () => [["clustering", "x", "y", "group"], ...range(L).map((i) => [D.names[i], xs[i], ys[i], D.group[i]])]));
};
