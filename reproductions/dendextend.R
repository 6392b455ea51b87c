# What dendextend and stats give for the trees that docs/coming_from.md compares: Rscript reproductions/dendextend.R
suppressPackageStartupMessages(library(dendextend))
cat("dendextend", as.character(packageVersion("dendextend")), "R", as.character(getRversion()), "\n")
d <- dist(iris[, 1:4])
a <- hclust(d, "average"); b <- hclust(d, "complete")
x <- as.dendrogram(a); y <- as.dendrogram(b)
cat("cor_cophenetic", format(cor_cophenetic(x, y), digits = 12), "\n")
cat("cor_bakers_gamma", format(cor_bakers_gamma(x, y), digits = 12), "\n")
k <- 2:6
cat("Bk", format(sapply(k, function(i) FM_index(cutree(a, i), cutree(b, i))), digits = 12), "\n")
fm <- FM_index(cutree(a, 3), cutree(b, 3))
cat("E_FM, V_FM at k = 3", format(c(attr(fm, "E_FM"), attr(fm, "V_FM")), digits = 12), "\n")
cat("cor_FM_index at k = 3", format(cor_FM_index(x, y, k = 3), digits = 12), "\n")
cat("entanglement", format(entanglement(dendlist(x, y)), digits = 6), "after untangle step2side",
    format(entanglement(untangle(dendlist(x, y), method = "step2side")), digits = 6), "\n")
two <- untangle(dendlist(x, y), method = "step2side")
place <- match(labels(two[[1]]), labels(two[[2]]))
cat("crossings after untangle", sum(sapply(seq_along(place), function(i) sum(place[seq_len(i)] > place[i]))), "\n")
star <- as.dendrogram(hclust(as.dist(matrix(1, 5, 5)), "single"))
other <- as.dendrogram(hclust(dist(1:5), "average"))
cat("cor_bakers_gamma of a star tree", format(tryCatch(cor_bakers_gamma(star, other), error = function(e) NA)), "\n")
small <- iris[seq(5, 150, 5), 1:4]
p <- hclust(dist(small), "complete"); q <- hclust(dist(small), "single")
cat("30 points: cor_cophenetic, cor_bakers_gamma", format(c(cor_cophenetic(as.dendrogram(p), as.dendrogram(q)),
    cor_bakers_gamma(as.dendrogram(p), as.dendrogram(q))), digits = 12), "\n")
