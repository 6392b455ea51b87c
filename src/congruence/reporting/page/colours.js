// --- colours: viridis for amounts, Okabe and Ito's for clusters --------------------------------------------------
const VIRIDIS = ["440154", "481f70", "443983", "3b528b", "31688e", "287c8e", "21918c", "20a486", "35b779", "5ec962", "90d743", "c8e020", "fde725"]
  .map((h) => [0, 2, 4].map((i) => parseInt(h.slice(i, i + 2), 16)));
const mixed = (colours, t) => {
  const x = Math.max(0, Math.min(1, t)) * (colours.length - 1), i = Math.min(Math.floor(x), colours.length - 2), f = x - i;
  return [0, 1, 2].map((c) => Math.round(colours[i][c] * (1 - f) + colours[i + 1][c] * f));
};
const viridis = (t) => mixed(VIRIDIS, t);
const rgb = (c) => `rgb(${c[0]},${c[1]},${c[2]})`;
const EIGHT = [[0, 114, 178], [230, 159, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [213, 94, 0], [240, 228, 66]];
const GREY = [150, 150, 150];
const isDark = () => document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const clusterColour = (i) => { // further rounds are lighter, then darker; on a dark page all are lighter
  const base = EIGHT[i % 7], round = Math.floor(i / 7) % 3, light = (isDark() ? 0.25 : 0) + (round === 1 ? 0.4 : 0);
  return base.map((c) => Math.round(round === 2 ? c * 0.6 + 255 * light : c + (255 - c) * light));
};
// from doubt to certainty: what is in doubt stands out on a light page and on a dark one
const stabilityColour = (t) => mixed(isDark() ? [[255, 200, 95], [255, 150, 60], [105, 140, 175], [70, 105, 150]] : [[200, 60, 0], [235, 150, 40], [120, 170, 205], [0, 90, 150]], isNumber(t) ? (t - 0.4) / 0.6 : 0);
const effectColour = (d) => { // blue below the others, orange above
  const t = Math.max(-1, Math.min(1, d / 2)), paper = isDark() ? [40, 46, 53] : [245, 247, 249];
  return mixed(t < 0 ? [paper, isDark() ? [80, 160, 230] : [0, 114, 178]] : [paper, isDark() ? [255, 150, 70] : [213, 94, 0]], Math.abs(t));
};
const readable = (c) => 0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2] > 140 ? "#111" : "#fff";
const legend = (a, b, paint, words) => el("div", { class: "legend" }, el("span", {}, a),
  el("span", { class: "bar", style: `background:linear-gradient(90deg,${range(13).map((i) => rgb(paint(i / 12))).join(",")})` }), el("span", {}, b), el("span", { class: "muted" }, words));
