/** What the server of the page is asked for, and answers, in `npm run bench -- page`. */

/** `change`: leases change from now on. Both are answered with what the process has used. */
export type PageServerRequest = 'change' | 'cpu';

export type PageServerAnswer =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'cpu'; readonly cpuMs: number; readonly megabytes: number };
