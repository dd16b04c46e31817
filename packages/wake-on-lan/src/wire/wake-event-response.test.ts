import { describe, expect, it } from 'vitest';
import { WAKE_STATUSES, type WakeAnswer } from '../report/wake-report.js';
import { decodeWakeEventResponse, encodeWakeEventResponse, type WakeEventResponse } from './wake-event-response.js';

const ANSWER: WakeAnswer = { status: 'accepted', message: 'm', wasDuplicate: true, processingTimeMs: 3 };
const RESPONSE: WakeEventResponse = {
  status: 'ACCEPTED',
  message: 'm',
  vm_info: null,
  was_duplicate: true,
  processing_time_ms: 3,
};

describe('wol.v1.WOLEventResponse', () => {
  it.each(WAKE_STATUSES.map((status, number) => [status, number] as const))('%s is %i', (status, number) => {
    const encoded = encodeWakeEventResponse({ ...ANSWER, status });
    expect(encoded.status).toBe(number);
    expect(decodeWakeEventResponse({ ...RESPONSE, status: number })).toEqual({ ...ANSWER, status });
    expect(decodeWakeEventResponse({ ...RESPONSE, status: status.toUpperCase().replaceAll('-', '_') }).status).toBe(status);
  });

  it.each([7, 'QUEUED'])('a status of a later version (%s) is unknown', (status) =>
    expect(decodeWakeEventResponse({ ...RESPONSE, status }).status).toBe('unknown'),
  );

  it('the machine is present, or is omitted', () => {
    const machine = { namespace: 'lab', name: 'vm-a', currentState: 'Stopped' };
    expect(
      decodeWakeEventResponse({ ...RESPONSE, vm_info: encodeWakeEventResponse({ ...ANSWER, machine }).vm_info ?? null }).machine,
    ).toEqual(machine);
    expect(encodeWakeEventResponse(ANSWER)).not.toHaveProperty('vm_info');
  });

  it('a long message is truncated', () =>
    expect(decodeWakeEventResponse({ ...RESPONSE, message: 'm'.repeat(100_000) }).message).toHaveLength(500));
});
