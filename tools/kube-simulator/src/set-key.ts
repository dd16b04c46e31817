import type { Json } from './api-object.js';

/** Sets `object[key]`, also for the key `__proto__`, where a plain assignment would set the prototype. */
export function setKey(object: Record<string, Json | undefined>, key: string, value: Json | undefined): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}
