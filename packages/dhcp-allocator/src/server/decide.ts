import type { ClientMessage } from './client-message.js';
import { decideDecline } from './decide-decline.js';
import { decideDiscover } from './decide-discover.js';
import { decideInform } from './decide-inform.js';
import { decideRelease } from './decide-release.js';
import { decideRequest } from './decide-request.js';
import type { Decision, KnownClient } from './decision.js';

/** Decides how to answer one message of a client. Never sends, logs or reads a clock. Source: RFC 2131 §4.3. */
export function decide(client: ClientMessage, known: KnownClient): Decision {
  switch (client.type) {
    case 'discover':
      return decideDiscover(client, known);
    case 'request':
      return decideRequest(client, known);
    case 'decline':
      return decideDecline(client, known);
    case 'release':
      return decideRelease(client, known);
    case 'inform':
      return decideInform(client, known);
  }
}
