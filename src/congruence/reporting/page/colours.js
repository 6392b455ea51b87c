// --- colours: viridis for amounts, Okabe and Ito's eight for clusters ------------------------------------------
const VIRIDIS = ["440154", "481f70", "443983", "3b528b", "31688e", "287c8e", "21918c", "20a486", "35b779", "5ec962", "90d743", "c8e020", "fde725"]
  .map((h) => [0, 2, 4].map((i) => parseInt(h.slice(i, i + 2), 16)));
const viridis = (t) => {
  const x = Math.max(0, Math.min(1, t)) * (VIRIDIS.length - 1), i = Math.min(Math.floor(x), VIRIDIS.length - 2), f = x - i;
  return [0, 1, 2].map((c) => Math.round(VIRIDIS[i][c] * (1 - f) + VIRIDIS[i + 1][c] * f));
};
const rgb = (c) => `rgb(${c[0]},${c[1]},${c[2]})`;
const EIGHT = [[0, 114, 178], [230, 159, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [213, 94, 0], [240, 228, 66], [140, 140, 140]];
const isDark = () => document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const clusterColour = (i) => { // further rounds of the eight are lighter, then darker; on a dark page all are lighter
  const base = EIGHT[i % 8], round = Math.floor(i / 8) % 3, light = (isDark() ? 0.25 : 0) + (round === 1 ? 0.4 : 0);
  return base.map((c) => Math.round(round === 2 ? c * 0.6 + 255 * light : c + (255 - c) * light));
};
const GREY = [150, 150, 150];
