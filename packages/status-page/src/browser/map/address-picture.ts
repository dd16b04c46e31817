import type { AddressMap, AddressState, PageLease, QuarantinedAddress } from '../../model/page-data.js';
import type { PageClient } from '../connection/page-client.js';
import { element, setText } from '../dom/element.js';
import { notice } from '../parts/notice.js';
import { amountOf } from '../text/describe-number.js';
import { BLOCK_SIZE, countBlocks, moveInGrid } from './address-blocks.js';
import { AddressInspector } from './address-inspector.js';
import { AddressOwners, describeOwner } from './address-owners.js';
import { AddressStates } from './address-states.js';
import { AddressTables } from './address-tables.js';
import { BlockGrid } from './block-grid.js';
import { MapLegend } from './map-legend.js';
import { SubnetCanvas } from './subnet-canvas.js';

const PAUSE_MS = 120;
const NOT_IN_RANGE: ReadonlySet<AddressState> = new Set(['outside', 'server', 'router']);

/** The settings of the picture. */
export interface AddressPictureSettings {
  readonly client: PageClient;
  readonly pool: string;
  readonly map: AddressMap;
  readonly nowMs: () => number;
  /** Called with the selected address. */
  readonly onSelect: (address: string) => void;
}

/** Changes: see `PoolChange`. */
export interface PictureChange {
  readonly map: readonly number[];
  readonly leases: readonly PageLease[];
  readonly removed: readonly string[];
}

/** The address map of a pool: the whole subnet as a picture, 256 addresses as a grid, one address in words. */
export class AddressPicture {
  readonly element: HTMLElement;
  readonly #settings: AddressPictureSettings;
  readonly #states: AddressStates;
  readonly #owners: AddressOwners;
  readonly #legend = new MapLegend((state) => this.#select(this.#states.nextOf(state, this.#selected) ?? this.#selected, false));
  readonly #inspector = new AddressInspector();
  readonly #tables: AddressTables;
  readonly #grid: BlockGrid;
  readonly #slider: HTMLInputElement;
  readonly #blockName = element('span', { class: 'block-name' });
  #canvas: SubnetCanvas | undefined;
  #quarantined: readonly QuarantinedAddress[] = [];
  #selected = 0;
  #block = -1;
  #hasOwners = false;
  #pause: ReturnType<typeof setTimeout> | undefined;

  private constructor(settings: AddressPictureSettings, states: AddressStates) {
    this.#settings = settings;
    this.#states = states;
    this.#owners = new AddressOwners(settings.client, settings.pool);
    this.#tables = new AddressTables(states, (block) => this.#select(block * BLOCK_SIZE, true));
    this.#grid = new BlockGrid(states.size, {
      onMove: (move) => this.#select(moveInGrid(this.#selected, move, states.size), true),
      onSelect: (offset) => this.#select(offset, true),
      onHover: (offset) => this.#inspect(offset ?? this.#selected),
      describeOwner: (offset) => describeOwner(this.#owners.leaseOf(states.addressAt(offset))),
    });
    this.#slider = this.#makeSlider();
    this.element = this.#compose();
  }

  /** The element of a picture, or of the notice that replaces it if the subnet is too large. */
  static of(settings: AddressPictureSettings): AddressPicture | HTMLElement {
    const states = AddressStates.of(settings.map);
    if (states !== undefined) return new AddressPicture(settings, states);
    const text = `${amountOf(settings.map.size, 'address', 'addresses')}: more than this page draws. The leases are in the view Leases.`;
    return notice('This subnet has no picture', [element('p', {}, text)]);
  }

  /** Draws the picture. The element must be in the document, because colours come from the style sheet. @param address - the address to select. */
  start(address: string, quarantined: readonly QuarantinedAddress[]): void {
    this.#quarantined = quarantined;
    if (this.#states.size > BLOCK_SIZE) {
      this.#canvas = new SubnetCanvas(this.#states, this.#legend.readPalette(), {
        onSelect: (offset) => this.#select(offset, true),
        onHover: (offset) => this.#inspect(offset ?? this.#selected),
      });
      this.element.querySelector('.overview-picture > p')?.after(this.#canvas.element);
    }
    this.#legend.show(this.#states.count());
    this.#select(this.#states.offsetOf(address) ?? this.#firstOfInterest(), false);
  }

  /** Shows another version of the same subnet. False if it is another subnet, which needs a new picture. */
  replace(map: AddressMap, quarantined: readonly QuarantinedAddress[]): boolean {
    if (map.size !== this.#states.size || map.first !== this.#states.addressAt(0)) return false;
    this.#quarantined = quarantined;
    this.#states.reset(map.runs);
    this.#canvas?.refresh(0, this.#states.size);
    this.#owners.clear();
    void this.#loadOwners(this.#block);
    this.#refresh();
    return true;
  }

  apply({ map, leases, removed }: PictureChange): void {
    this.#states.apply(map);
    this.#owners.apply(leases, removed);
    for (let index = 0; index + 2 < map.length; index += 3) {
      const from = map[index] ?? 0;
      this.#canvas?.refresh(from, from + (map[index + 2] ?? 0));
    }
    this.#refresh();
  }

  /** Redraws after the colours of the style sheet have changed. */
  recolor(): void {
    this.#canvas?.recolor(this.#legend.readPalette());
  }

  #compose(): HTMLElement {
    const detail = element('div', { class: 'block-picture' }, [element('h3', {}, [this.#blockName]), this.#grid.element]);
    const overview = this.#states.size > BLOCK_SIZE ? this.#composeOverview() : null;
    return element('div', { class: 'map' }, [
      this.#legend.element,
      this.#composeSearch(),
      element('div', { class: overview === null ? 'pictures' : 'pictures two' }, [overview, detail, this.#inspector.element]),
      this.#tables.element,
    ]);
  }

  #composeOverview(): HTMLElement {
    return element('div', { class: 'overview-picture' }, [
      element(
        'p',
        { class: 'soft' },
        'A row is a block of 256 addresses, from .0 at the left to .255 at the right; the numbers are its third octet. Click to see a block.',
      ),
      element('label', { class: 'slider' }, [element('span', {}, 'Block of 256 addresses'), this.#slider]),
    ]);
  }

  #composeSearch(): HTMLElement {
    const input = element('input', {
      type: 'text',
      inputmode: 'decimal',
      autocomplete: 'off',
      spellcheck: 'false',
      placeholder: this.#states.addressAt(0),
    });
    const problem = element('p', { class: 'problem', role: 'alert' });
    const form = element('form', { class: 'search' }, [
      element('label', {}, [element('span', {}, 'Find an address'), input]),
      element('button', { type: 'submit' }, 'Find'),
      problem,
    ]);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const offset = this.#states.offsetOf(input.value);
      setText(problem, offset === undefined ? this.#describeRange(input.value) : '');
      if (offset !== undefined) this.#select(offset, true);
    });
    return form;
  }

  #describeRange(text: string): string {
    const range = `${this.#states.addressAt(0)} to ${this.#states.addressAt(this.#states.size - 1)}`;
    return `${text.trim() === '' ? 'Nothing' : `"${text.trim()}"`} is not in the subnet: write an address from ${range}.`;
  }

  #makeSlider(): HTMLInputElement {
    const slider = element('input', { type: 'range', min: 0, max: countBlocks(this.#states.size) - 1, step: 1, value: 0 });
    slider.addEventListener('input', () =>
      this.#select(Number(slider.value) * BLOCK_SIZE + (this.#selected % BLOCK_SIZE), false),
    );
    return slider;
  }

  #select(offset: number, isFocused: boolean): void {
    this.#selected = Math.min(offset, this.#states.size - 1);
    this.#showBlock(Math.floor(this.#selected / BLOCK_SIZE));
    this.#grid.select(this.#selected, isFocused);
    this.#inspect(this.#selected);
    this.#settings.onSelect(this.#states.addressAt(this.#selected));
  }

  #showBlock(block: number): void {
    if (block === this.#block) return;
    this.#block = block;
    const from = block * BLOCK_SIZE;
    const last = Math.min(from + BLOCK_SIZE, this.#states.size) - 1;
    const name = `${this.#states.addressAt(from)} to ${this.#states.addressAt(last)}`;
    setText(this.#blockName, name);
    this.#slider.value = String(block);
    const { used, free } = this.#states.count(from, last + 1);
    this.#slider.setAttribute('aria-valuetext', `${name}: ${used} used, ${free} free`);
    this.#grid.show(this.#states, from);
    this.#canvas?.mark(block);
    this.#tables.show(from);
    // A drag of the slider passes many blocks.
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => void this.#loadOwners(block), this.#hasOwners ? PAUSE_MS : 0);
    this.#hasOwners = true;
  }

  async #loadOwners(block: number): Promise<void> {
    const from = block * BLOCK_SIZE;
    const hasCome = await this.#owners.load(this.#states.addressAt(from));
    if (!hasCome || block !== this.#block) return;
    this.#grid.refresh(from, from + BLOCK_SIZE);
    this.#inspect(this.#selected);
  }

  #refresh(): void {
    // Owners may change without a change of states.
    this.#grid.refresh(this.#block * BLOCK_SIZE, (this.#block + 1) * BLOCK_SIZE);
    this.#legend.show(this.#states.count());
    this.#tables.refresh();
    this.#inspect(this.#selected);
  }

  #inspect(offset: number): void {
    const address = this.#states.addressAt(offset);
    const inspected = {
      address,
      state: this.#states.stateAt(offset),
      lease: this.#owners.leaseOf(address),
      isOwnerKnown: this.#owners.isKnown(address),
      quarantined: this.#quarantined.find((one) => one.address === address),
    };
    this.#inspector.show(inspected, this.#settings.nowMs());
  }

  /** The first address in the range, which may be far from the first address of the subnet. */
  #firstOfInterest(): number {
    for (let offset = 0; offset < this.#states.size; offset++) if (!NOT_IN_RANGE.has(this.#states.stateAt(offset))) return offset;
    return 0;
  }
}
