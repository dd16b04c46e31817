/** The user whose rights a kubeconfig asks for, which may be fewer than those of its own user. */
import { isRecord, readField, readList, readText } from '../object/read-field.js';

/** Returns the headers for `as`, `as-uid`, `as-groups` and `as-user-extra` of a kubeconfig's user. */
export function toImpersonationHeaders(user: unknown): Record<string, string | string[]> {
  const [name, uid] = [readText(user, 'as'), readText(user, 'as-uid')];
  const groups = textsOf(readList(user, 'as-groups'));
  const extra = readField(user, 'as-user-extra');
  const lists = isRecord(extra) ? Object.keys(extra).map((key) => [key, textsOf(readList(extra, key))] as const) : [];
  return {
    ...(name && { 'impersonate-user': name }),
    ...(uid && { 'impersonate-uid': uid }),
    ...(groups.length > 0 && { 'impersonate-group': groups }),
    ...Object.fromEntries(lists.map(([key, texts]) => [`impersonate-extra-${escapeForHeader(key)}`, texts])),
  };
}

function textsOf(values: readonly unknown[]): string[] {
  return values.filter((value) => typeof value === 'string');
}

/** The API server decodes what is not allowed in the name of a header, such as the slash of `example.com/team`. */
function escapeForHeader(key: string): string {
  return encodeURIComponent(key).replace(/[()]/g, (bracket) => `%${bracket.charCodeAt(0).toString(16)}`);
}
