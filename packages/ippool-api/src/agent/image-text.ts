/** Characters of a reference to an image; a placeholder such as `<your-registry>` has others. */
const IMAGE = /^[\w.:@/[\]-]+$/;

/** True for a text that can refer to an image. */
export function isImage(text: string): boolean {
  return IMAGE.test(text);
}

/** What is wrong with a field that should name an image; undefined if nothing is, or if it is empty. */
export function imageProblem(text: string | undefined): { readonly message: string; readonly remedy: string } | undefined {
  if (!text || isImage(text)) return undefined;
  const remedy = 'write REPOSITORY:TAG, as in registry.example.com/vmdhcp-agent:v1';
  return { message: `${JSON.stringify(text)} is not an image`, remedy };
}
