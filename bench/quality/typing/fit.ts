const ROUNDS = 12;

/** Fits a logistic regression by Newton's method. A ridge of 1 keeps the weights of uninformative features near 0. */
export function fitWeights(samples: readonly { features: number[]; right: boolean }[]): number[] {
  const size = samples[0]?.features.length ?? 0;
  let weights = Array.from({ length: size }, () => 0);
  for (let round = 0; round < ROUNDS; round += 1) {
    const slope = weights.map((weight) => -weight);
    const curve = weights.map((_, row) => weights.map((_, column) => Number(row === column)));
    for (const { features, right } of samples) {
      const z = features.reduce((sum, value, place) => sum + value * (weights[place] ?? 0), 0);
      const probability = 1 / (1 + Math.exp(-z));
      const spread = probability * (1 - probability);
      for (const [row, value] of features.entries()) {
        slope[row] = (slope[row] ?? 0) + (Number(right) - probability) * value;
        const line = curve[row] ?? [];
        for (const [column, other] of features.entries())
          line[column] = (line[column] ?? 0) + spread * value * other;
      }
    }
    const step = solveSystem(curve, slope);
    weights = weights.map((weight, place) => weight + (step[place] ?? 0));
  }
  return weights;
}

/** Solves a positive definite system by elimination. */
function solveSystem(matrix: number[][], right: number[]): number[] {
  const rows = matrix.map((row, place) => [...row, right[place] ?? 0]);
  for (const [place, pivot] of rows.entries())
    for (const [other, row] of rows.entries()) {
      if (other === place) continue;
      const share = (row[place] ?? 0) / (pivot[place] ?? 1);
      for (let column = place; column < row.length; column += 1)
        row[column] = (row[column] ?? 0) - share * (pivot[column] ?? 0);
    }
  return rows.map((row, place) => (row.at(-1) ?? 0) / (row[place] ?? 1));
}
