import type { Panel } from '../dashboard.js';
import type { DashboardReading, SeriesReading } from './reading.js';

/** In pixels. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A panel with what its queries returned, and where it is drawn. */
export interface PanelPicture {
  readonly panel: Panel;
  readonly series: readonly SeriesReading[];
  readonly box: Box;
  readonly reading: DashboardReading;
}
