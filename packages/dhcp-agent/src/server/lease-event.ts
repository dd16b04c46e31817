/** What happened to a lease; a plain renewal is no event. */
export type LeaseEvent = 'bound' | 'changed' | 'released' | 'declined' | 'expired' | 'refused';
