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

/** Opens a socket; returns its file descriptor, or -1. Source: socket(2). */
export const socket = libc.func('int socket(int domain, int type, int protocol)') as Call<[number, number, number]>;
/** Closes a file descriptor. Source: close(2). */
export const close = libc.func('int close(int fd)') as Call<[number]>;
/** Binds a socket to an address. Source: bind(2). */
export const bind = libc.func('int bind(int fd, const void *address, uint32_t length)') as Call<[number, Memory, number]>;
/** Makes a socket accept connections. Source: listen(2). */
export const listen = libc.func('int listen(int fd, int backlog)') as Call<[number, number]>;
/** Changes an option of a socket. Source: setsockopt(2). */
export const setsockopt = libc.func('int setsockopt(int fd, int level, int name, const void *value, uint32_t length)') as Call<
  [number, number, number, Memory, number]
>;
/** Reads an option of a socket. Source: getsockopt(2). */
export const getsockopt = libc.func('int getsockopt(int fd, int level, int name, void *value, void *length)') as Call<
  [number, number, number, Memory, Memory]
>;
/** Reads the address that a socket is bound to. Source: getsockname(2). */
export const getsockname = libc.func('int getsockname(int fd, void *address, void *length)') as Call<[number, Memory, Memory]>;
/** Receives several messages in one call. Source: recvmmsg(2). */
export const recvmmsg = libc.func('int recvmmsg(int fd, void *messages, uint32_t count, int flags, void *timeout)') as Call<
  [number, Memory, number, number, null]
>;
/** Sends several messages in one call. Source: sendmmsg(2). */
export const sendmmsg = libc.func('int sendmmsg(int fd, void *messages, uint32_t count, int flags)') as Call<
  [number, Memory, number, number]
>;
/** Locks an open file. Source: flock(2). */
export const flock = libc.func('int flock(int fd, int operation)') as Call<[number, number]>;
/** Reads the capabilities of the process. Source: capget(2). */
export const capget = libc.func('int capget(void *header, void *sets)') as Call<[Memory, Memory]>;
/** Changes the capabilities of the process. Source: capset(2). */
export const capset = libc.func('int capset(void *header, const void *sets)') as Call<[Memory, Memory]>;
/** The index of an interface; 0 if there is none of this name. Source: if_nametoindex(3). */
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
