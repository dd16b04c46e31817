import type { UnansweredCall } from './manager-connection.js';

/** Explains errors of gRPC and TLS, and says what to do about them. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [
    /unable to verify the first certificate|self-signed certificate|unable to get (local )?issuer certificate/,
    'the certificate of the manager is of another authority than those in ca.crt: mount the Secret that the managers keep',
  ],
  [/certificate has expired/, 'the certificate of the manager has expired by the clock of this host: compare the clocks'],
  [
    /certificate is not yet valid/,
    'the certificate of the manager is not valid yet by the clock of this host: compare the clocks',
  ],
  [/does not match certificate's altnames/, 'the certificate is not that of a manager: is this address a manager?'],
  [
    /wrong version number|packet length too long/,
    'the manager does not use TLS: start it without clear text, or give --clear-text here too',
  ],
  [/ECONNREFUSED/, 'no manager listens there'],
  [/ENOTFOUND|EAI_AGAIN|Name resolution failed/, 'the name of the manager is not known: is there a Service of this name?'],
  [
    /Failed to connect|Connection dropped|socket hang up|ECONNRESET|Client network socket disconnected/,
    'the manager closed the connection: if its log has a refused certificate, mount the Secret that it keeps',
  ],
];

/** Details from gRPC; a time in them would make each failure a new one. */
const NOISE = [
  /^No connection established\. Last error: (?:null|Error: )?/,
  /\s*Resolution note:.*$/s,
  /\s*\(\d{4}-\d\d-\d\dT[^)]*\)\.?/g,
  /\.\s*$/,
];

/** Why a call failed, for people. The same failure has always the same text. */
export function describeUnansweredCall(failure: UnansweredCall): string {
  switch (failure.kind) {
    case 'not-leading':
      return failure.leader === undefined
        ? 'no manager is leader'
        : `the manager at ${failure.leader} is leader, and cannot be reached`;
    case 'unknown-method':
      return 'the manager does not know this service: is this address a manager?';
    case 'malformed':
    case 'later':
      return failure.message;
    case 'unavailable': {
      const message = NOISE.reduce((text, noise) => text.replace(noise, ''), failure.message).trim() || 'no connection was made';
      const remedy = REMEDIES.find(([pattern]) => pattern.test(failure.message))?.[1];
      return remedy === undefined ? message : `${message} (${remedy})`;
    }
  }
}
