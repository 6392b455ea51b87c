// --- colours: viridis for amounts, twenty for clusters, greys for families ------------------------------------------------
const VIRIDIS = ["440154", "481f70", "443983", "3b528b", "31688e", "287c8e", "21918c", "20a486", "35b779", "5ec962", "90d743", "c8e020", "fde725"]
  .map((h) => [0, 2, 4].map((i) => parseInt(h.slice(i, i + 2), 16)));
const mixed = (colours, t) => {
  const x = Math.max(0, Math.min(1, t)) * (colours.length - 1), i = Math.min(Math.floor(x), colours.length - 2), f = x - i;
  return [0, 1, 2].map((c) => Math.round(colours[i][c] * (1 - f) + colours[i + 1][c] * f));
};
const viridis = (t) => mixed(VIRIDIS, t);
const rgb = (c) => `rgb(${c[0]},${c[1]},${c[2]})`;
// 20 colours for clusters: Okabe and Ito's seven, and those farthest from them and from one another in CIELAB, also for red-green blindness
const TWENTY = ["0072b2", "e69f00", "009e73", "cc79a7", "56b4e9", "d55e00", "f0e442", "502cf8", "14f880", "685c14", "5068ec", "98ece0", "b0148c", "ec505c", "c85cf8", "eca498", "2c685c", "c8bcec", "98c844", "984444"]
  .map((h) => [0, 2, 4].map((i) => parseInt(h.slice(i, i + 2), 16)));
const GREY = [150, 150, 150];
const isDark = () => document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const clusterColour = (i) => TWENTY[i % 20].map((c) => Math.round(c + (255 - c) * (isDark() ? 0.12 : 0))); // beyond 20 the mark differs, too
const MARKS = ["circle", "square", "triangle", "diamond"];
const markOf = (i) => MARKS[Math.floor(i / 20) % 4];
const swatch = (i, colour) => el("span", { class: `swatch ${markOf(i)}`, style: `background:${rgb(colour || clusterColour(i))}` });
const trace = (c, mark, x, y, r) => { // the outline of a point
  c.beginPath();
  if (mark === "circle") return c.arc(x, y, r, 0, 2 * Math.PI);
  const corners = mark === "square" ? [[-1, -1], [1, -1], [1, 1], [-1, 1]] : mark === "triangle" ? [[0, -1.25], [1.15, 0.85], [-1.15, 0.85]] : [[0, -1.35], [1.35, 0], [0, 1.35], [-1.35, 0]];
  corners.forEach(([a, b], i) => { if (i) c.lineTo(x + r * a, y + r * b); else c.moveTo(x + r * a, y + r * b); });
  c.closePath();
};
// groups of similar clusterings have greys and numerals, so that no colour means two things
const familyColour = (g) => { const t = 0.25 + 0.5 * (g % 4) / 3, paper = isDark() ? 235 : 20; return [1, 1, 1].map(() => Math.round(paper * (1 - t) + 128 * t + (g % 2 ? (isDark() ? -60 : 60) : 0))); };
const numeral = (g) => ["I", "II", "III", "IV", "V", "VI", "VII", "VIII"][g] || String(g + 1);
// from doubt to certainty: what is in doubt stands out on a light page and on a dark one
const stabilityColour = (t) => mixed(isDark() ? [[255, 200, 95], [255, 150, 60], [105, 140, 175], [70, 105, 150]] : [[200, 60, 0], [235, 150, 40], [120, 170, 205], [0, 90, 150]], isNumber(t) ? (t - 0.4) / 0.6 : 0);
const effectColour = (d) => { // blue below the others, orange above
  const t = Math.max(-1, Math.min(1, d / 2)), paper = isDark() ? [40, 46, 53] : [245, 247, 249];
  return mixed(t < 0 ? [paper, isDark() ? [80, 160, 230] : [0, 114, 178]] : [paper, isDark() ? [255, 150, 70] : [213, 94, 0]], Math.abs(t));
};
const luminance = (c) => { const [r, g, b] = c.map((x) => x <= 10 ? x / 3294.6 : ((x / 255 + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; }; // of WCAG
const readable = (c) => luminance(c) > 0.179 ? "#000" : "#fff"; // the one with more contrast, at least 4.5 on every colour
const legend = (a, b, paint, words) => el("div", { class: "legend" }, el("span", {}, a),
  el("span", { class: "bar", style: `background:linear-gradient(90deg,${range(13).map((i) => rgb(paint(i / 12))).join(",")})` }), el("span", {}, b), el("span", { class: "muted" }, words));
