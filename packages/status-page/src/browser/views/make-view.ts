import type { PageRoute } from '../route/page-route.js';
import { GroupsView } from './groups-view.js';
import { HostsView } from './hosts-view.js';
import { LeasesView } from './leases-view.js';
import { MachinesView } from './machines-view.js';
import { MapView } from './map-view.js';
import { OverviewView } from './overview-view.js';
import type { PageContext } from './page-context.js';
import { UnknownView } from './unknown-view.js';
import type { View } from './view.js';
import { WakeOnLanView } from './wake-on-lan-view.js';

/** The view of a route, without data yet. */
export function makeView(route: PageRoute, context: PageContext): View {
  switch (route.view) {
    case 'overview':
      return new OverviewView(context);
    case 'pool':
      return new MapView(context, route.pool, route.address);
    case 'leases':
      return new LeasesView(context, route.search, route.pool);
    case 'machines':
      return new MachinesView(context);
    case 'agents':
      return new GroupsView(context);
    case 'wake-on-lan':
      return new WakeOnLanView(context);
    case 'hosts':
      return new HostsView(context);
    case 'unknown':
      return new UnknownView(route.hash);
  }
}
