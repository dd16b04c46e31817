/** What of a package is needed when a program runs: code and data, and its licence. Types, sources, maps, tests and documents are not. */
const CODE = /\.(js|mjs|cjs|json|node)$/;
const LICENCE = /^(licen[cs]e|copying|notice)/i;
/** Binaries for a C library that images do not have. */
const ANOTHER_LIBRARY = /(^|\/)musl_[^/]+\//;
const DEVELOPMENT_FOLDERS = /(^|\/)(\.[^/]+|tests?|__tests__|testing|fixtures)\/|^(docs?|examples?|benchmarks?|bench|coverage)\//;
const DEVELOPMENT_FILES =
  /(^|\/)(tsconfig[^/]*\.json|\.[^/]*|package-lock\.json|[^/]*\.(test|spec|config|conf)\.[cm]?js|[^/]*-fixtures\.js|test\.[cm]?js|benchmark\.[cm]?js)$/;

/** @param path - In the package. */
export function isRuntimeFile(path: string): boolean {
  if (LICENCE.test(path)) return !CODE.test(path);
  return CODE.test(path) && !DEVELOPMENT_FOLDERS.test(path) && !ANOTHER_LIBRARY.test(path) && !DEVELOPMENT_FILES.test(path);
}
