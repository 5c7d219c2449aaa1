/**
 * Solves `matrix · x = vector` for a symmetric positive definite matrix, by Cholesky decomposition (Golub and Van Loan,
 * Matrix Computations, 4.2). Only the lower triangle is read.
 */
export function solve(matrix: readonly (readonly number[])[], vector: readonly number[]): number[] {
  const lower = decomposed(matrix);
  const forward: number[] = [];
  for (const [i, row] of lower.entries()) forward.push((at(vector, i) - dot(row, forward, i)) / at(row, i));
  const solution = [...forward];
  for (let i = lower.length - 1; i >= 0; i -= 1) {
    let sum = at(forward, i);
    for (let j = i + 1; j < lower.length; j += 1) sum -= at(lower[j], i) * at(solution, j);
    solution[i] = sum / at(lower[i], i);
  }
  return solution;
}

function decomposed(matrix: readonly (readonly number[])[]): number[][] {
  const lower: number[][] = [];
  for (const [i, row] of matrix.entries()) {
    const found: number[] = [];
    for (let j = 0; j < i; j += 1) found.push((at(row, j) - dot(lower[j], found, j)) / at(lower[j], j));
    found.push(Math.sqrt(at(row, i) - dot(found, found, i)));
    lower.push(found);
  }
  return lower;
}

/** Of the first `length` elements. */
function dot(a: readonly number[] | undefined, b: readonly number[], length: number): number {
  let sum = 0;
  for (let i = 0; i < length; i += 1) sum += at(a, i) * at(b, i);
  return sum;
}

/** An element; 0 beyond the end. */
export function at(vector: readonly number[] | undefined, index: number): number {
  return vector?.[index] ?? 0;
}
