import type { Json } from '../api-object.js';
import type { PodTemplate } from './workload-kinds.js';

/** Letters and digits that cannot make a word that offends. */
const safeLetters = 'bcdfghjklmnpqrstvwxz2456789';

/** A short name for the content of a pod template: equal for equal templates, whatever the order of their keys. */
export const hashTemplate = (template: PodTemplate): string => {
  const digits = String(fnv1a(JSON.stringify(sortKeys(template))));
  return Array.from(digits, (digit) => safeLetters[digit.charCodeAt(0) % safeLetters.length]).join('');
};

const fnv1a = (text: string): number => {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
};

const sortKeys = (value: Json | undefined): Json | undefined => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => sortKeys(item) ?? null);
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sortKeys(item)]));
};
