import { readFileSync } from 'node:fs';

/** What a process and its threads have used. Source: proc(5). */
export interface ProcessUsage {
  /** In the program itself. */
  readonly userSeconds: number;
  /** In the kernel on its behalf; on virtual interfaces that includes what the receiver's side costs. */
  readonly kernelSeconds: number;
  readonly residentMegabytes: number;
  /** The part of that memory without a file: it belongs to the process alone. */
  readonly privateMegabytes: number;
}

const CLOCK_TICKS_PER_SECOND = 100;

export function usageOf(pid: number): ProcessUsage {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const megabytes = (name: string) => (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024) / 1e6;
  return {
    userSeconds: Number(fields[11]) / CLOCK_TICKS_PER_SECOND,
    kernelSeconds: Number(fields[12]) / CLOCK_TICKS_PER_SECOND,
    residentMegabytes: megabytes('VmRSS'),
    privateMegabytes: megabytes('RssAnon'),
  };
}
