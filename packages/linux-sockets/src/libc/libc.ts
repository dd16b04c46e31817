/**
 * Functions of the C library that Node does not offer, and their constants. Each call blocks only as long as the system call does, and a socket call
 * with MSG_DONTWAIT not at all. A call that fails returns -1, with the reason in `lastErrorName()`.
 */
import { constants } from 'node:os';
import koffi from 'koffi';

export * from './constants.js';

const libc = koffi.load(null);

type Call<Parameters extends unknown[]> = (...parameters: Parameters) => number;
type Memory = Uint8Array | null;

export const socket = libc.func('int socket(int domain, int type, int protocol)') as Call<[number, number, number]>;
export const close = libc.func('int close(int fd)') as Call<[number]>;
export const bind = libc.func('int bind(int fd, const void *address, uint32_t length)') as Call<[number, Memory, number]>;
export const listen = libc.func('int listen(int fd, int backlog)') as Call<[number, number]>;
export const setsockopt = libc.func('int setsockopt(int fd, int level, int name, const void *value, uint32_t length)') as Call<
  [number, number, number, Memory, number]
>;
export const getsockopt = libc.func('int getsockopt(int fd, int level, int name, void *value, void *length)') as Call<
  [number, number, number, Memory, Memory]
>;
export const getsockname = libc.func('int getsockname(int fd, void *address, void *length)') as Call<[number, Memory, Memory]>;
export const recvmmsg = libc.func('int recvmmsg(int fd, void *messages, uint32_t count, int flags, void *timeout)') as Call<
  [number, Memory, number, number, null]
>;
export const sendmmsg = libc.func('int sendmmsg(int fd, void *messages, uint32_t count, int flags)') as Call<
  [number, Memory, number, number]
>;
export const flock = libc.func('int flock(int fd, int operation)') as Call<[number, number]>;
export const capget = libc.func('int capget(void *header, void *sets)') as Call<[Memory, Memory]>;
export const capset = libc.func('int capset(void *header, const void *sets)') as Call<[Memory, Memory]>;
export const ifNameToIndex = libc.func('uint32_t if_nametoindex(const char *name)') as Call<[string]>;

/**
 * The address of a buffer, for structures that point to it. Only for buffers with memory of their own (`Buffer.allocUnsafeSlow`), which does not
 * move.
 */
export function addressOf(memory: Uint8Array): bigint {
  return BigInt(koffi.address(memory));
}

/** The name of the error of the last call, `EPERM`. */
export function lastErrorName(): string {
  const code = koffi.errno();
  return Object.entries(constants.errno).find(([, value]) => value === code)?.[0] ?? `errno ${code}`;
}
