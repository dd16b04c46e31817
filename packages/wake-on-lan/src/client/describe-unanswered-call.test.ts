import { describe, expect, it } from 'vitest';
import { describeUnansweredCall } from './describe-unanswered-call.js';

describe('describeUnansweredCall', () => {
  it.each([
    [
      'No connection established. Last error: Error: connect ECONNREFUSED 192.0.2.1:9090. Resolution note: none',
      'connect ECONNREFUSED 192.0.2.1:9090 (no manager listens there)',
    ],
    ['No connection established. Last error: null. Resolution note: ', 'no connection was made'],
    ['self-signed certificate in certificate chain', 'mount the Secret that the managers keep'],
    ['unable to verify the first certificate', 'of another authority than those in ca.crt'],
    ['certificate has expired', 'compare the clocks'],
    ['certificate is not yet valid', 'compare the clocks'],
    ["Hostname/IP does not match certificate's altnames: Host: a. is not in the cert's altnames", 'is this address a manager?'],
    ['wrong version number', 'give --clear-text here too'],
    ['Name resolution failed for target dns:a:9090', 'is there a Service of this name?'],
    ['Connection dropped', 'the manager closed the connection'],
  ])('%s: what it is, and what to do', (message, expected) => {
    expect(describeUnansweredCall({ kind: 'unavailable', message })).toContain(expected);
  });

  it('the same failure has the same text at another time', () => {
    const at = (time: string) => describeUnansweredCall({ kind: 'unavailable', message: `Connection dropped (${time}).` });
    expect(at('2026-01-01T00:00:00.000Z')).toBe(at('2026-01-02T00:00:00.000Z'));
  });

  it('a manager that does not lead names the one that does', () => {
    expect(describeUnansweredCall({ kind: 'not-leading', leader: '192.0.2.1:9090' })).toContain('192.0.2.1:9090 is leader');
    expect(describeUnansweredCall({ kind: 'not-leading', leader: undefined })).toBe('no manager is leader');
  });
});
