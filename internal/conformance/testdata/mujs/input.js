// Standard input by lines.
var l, n = 0, words = {}; while ((l = readline()) !== null && n < 100) { n++; l.split(/\s+/).forEach(function (w) { words[w] = (words[w] || 0) + 1; }); print(n, l.length); if (l === "") break; } print(Object.keys(words).sort().map(function (k) { return k + "=" + words[k]; }).join(" ")); quit(21);
