import { describe, expect, it } from 'vitest';
import { formatTime, parseTime } from './time.js';

describe('times', () => {
  it('are written in whole seconds of UTC, and read again', () => {
    expect(formatTime(1_767_225_600_999)).toBe('2026-01-01T00:00:00Z');
    expect(parseTime('2026-01-01T00:00:00Z')).toBe(1_767_225_600_000);
  });

  it.each([undefined, '', 'yesterday'])('%j is not a time', (text) => {
    expect(parseTime(text)).toBeNaN();
  });
});
