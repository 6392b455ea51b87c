# Public data sets with a known number of clusters, as FOLDER/NAME_K.csv: Rscript reproductions/foreign_sets.R FOLDER
# The sets of R packages, and draws of two generators: mlbench, and clusterGeneration (Qiu and Joe 2006).
suppressMessages({
  library(mclust); library(cluster); library(kernlab); library(clue); library(MASS); library(fpc); library(flexmix)
  library(mlbench); library(clusterGeneration)
})
folder <- commandArgs(TRUE)[1]
write <- function(x, name, k)
  write.table(signif(as.matrix(x), 8), file.path(folder, paste0(name, "_", k, ".csv")), sep = ",", row.names = FALSE, col.names = FALSE)

data(Cassini); write(Cassini$x, "clue-cassini", 3)
data(spirals); write(spirals, "kernlab-spirals", 2)
data(ruspini); write(ruspini, "cluster-ruspini", 4)
data(xclara); write(xclara, "cluster-xclara", 3)
data(wreath); write(wreath, "mclust-wreath", 14)
data(cross); write(cross[, 2:3], "mclust-cross", 2)
data(chevron); write(chevron[, 2:3], "mclust-chevron", 2)
data(Baudry_etal_2010_JCGS_examples)
write(ex4.1, "baudry-4.1", 4); write(ex4.2, "baudry-4.2", 4); write(ex4.3, "baudry-4.3", 2); write(ex4.4.2, "baudry-4.4.2", 2)
data(banknote); write(scale(banknote[, -1]), "mclust-banknote", 2)
data(thyroid); write(scale(thyroid[, -1]), "mclust-thyroid", 3)
data(diabetes); write(scale(diabetes[, -1]), "mclust-diabetes", 3)
write(scale(faithful), "R-faithful", 2); write(scale(geyser), "MASS-geyser", 3); write(iris[, 1:4], "R-iris", 3)
data(Nclus); write(Nclus, "flexmix-Nclus", 4)

for (seed in 1:3) {
  set.seed(seed)
  draw <- function(f, k, n, ...) write(f(n, ...)$x, paste0("mlbench-", sub("mlbench.", "", deparse(substitute(f)), fixed = TRUE), seed), k)
  draw(mlbench.cassini, 3, 200 * seed); draw(mlbench.smiley, 4, 250 * seed); draw(mlbench.shapes, 4, 200 * seed)
  draw(mlbench.cuboids, 4, 150 * seed); draw(mlbench.spirals, 2, 200 * seed, sd = 0.03); draw(mlbench.circle, 1, 200 * seed, d = seed + 1)
  draw(mlbench.2dnormals, 2 + seed, 200 * seed, cl = 2 + seed, sd = 0.5); draw(mlbench.hypercube, 8, 300 * seed)
  draw(mlbench.simplex, 4, 150 * seed)
}
for (seed in 1:30) {
  set.seed(seed)
  k <- sample(2:8, 1)
  noisy <- sample(c(0, 0, 2, 4), 1)
  drawn <- genRandomClust(
    k, sepVal = sample(c(0.21, 0.34), 1), numNonNoisy = sample(2:10, 1), numNoisy = noisy,
    numOutlier = sample(c(0, 0, 0.03), 1), numReplicate = 1, clustszind = 2, rangeN = c(30, 120), outputDatFlag = FALSE,
    outputLogFlag = FALSE, outputEmpirical = FALSE, outputInfo = FALSE
  )
  write(drawn$datList[[1]], paste0("qiu_joe-", seed), k)
}
