import { visitorKeys } from 'oxc-parser';

/** The nodes and lists of nodes below a node: `[key, child]`. */
export function childrenOf(node) {
  const keys = visitorKeys[node.type] ?? [];
  return keys.flatMap((key) => [node[key]].flat().flatMap((child) => (child ? [[key, child]] : [])));
}
