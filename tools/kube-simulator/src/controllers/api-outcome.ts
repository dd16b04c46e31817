import { ApiError } from '../api-error.js';

const hasCode = (error: unknown, code: number): boolean => error instanceof ApiError && error.failure.code === code;

/** The object to be read or written does not exist. */
export const isMissing = (error: unknown): boolean => hasCode(error, 404);

/** Another client was faster: the object changed, or exists already. */
export const isConflict = (error: unknown): boolean => hasCode(error, 409);
