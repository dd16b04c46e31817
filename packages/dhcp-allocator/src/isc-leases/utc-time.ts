/** The times in a lease file: UTC dates in whole seconds. This package has no clock, and so does not use `Date`. */

const MS = 1_000;
const SECONDS_OF_DAY = 86_400;
const DATE = /^(\d{4})\/(\d{1,2})\/(\d{1,2})$/;
const TIME_OF_DAY = /^(\d{1,2}):(\d{2}):(\d{2})$/;
const DAYS_OF_ERA = 146_097;
const YEARS_OF_ERA = 400;
/** Days from 0000-03-01, where an era begins, to 1970-01-01. */
const DAYS_BEFORE_1970 = 719_468;

/** Milliseconds since 1970 of `2026/11/23` and `16:05:12`, or undefined if there is no such date or time. A leap second is the next second. */
export function parseUtcTime(date: string, timeOfDay: string): number | undefined {
  const day = parseDay(date);
  const [, hours, minutes, seconds] = (TIME_OF_DAY.exec(timeOfDay) ?? []).map(Number);
  if (day === undefined || hours === undefined || minutes === undefined || seconds === undefined) return undefined;
  if (hours > 23 || minutes > 59 || seconds > 60) return undefined;
  return (day * SECONDS_OF_DAY + (hours * 60 + minutes) * 60 + seconds) * MS;
}

/** `1 2026/11/23 16:05:12`: the day of the week (0 is Sunday), the date, the time. @param timeMs - since 1970; parts of a second are left out. */
export function formatUtcTime(timeMs: number): string {
  const seconds = Math.floor(timeMs / MS);
  const day = Math.floor(seconds / SECONDS_OF_DAY);
  const ofDay = seconds - day * SECONDS_OF_DAY;
  const [year, month, dayOfMonth] = civilOf(day);
  const weekday = (((day + 4) % 7) + 7) % 7;
  const date = `${String(year).padStart(4, '0')}/${two(month)}/${two(dayOfMonth)}`;
  return `${weekday} ${date} ${two(Math.floor(ofDay / 3_600))}:${two(Math.floor(ofDay / 60) % 60)}:${two(ofDay % 60)}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

function parseDay(date: string): number | undefined {
  const [, year, month, dayOfMonth] = (DATE.exec(date) ?? []).map(Number);
  if (year === undefined || month === undefined || dayOfMonth === undefined) return undefined;
  const day = dayOf([year, month, dayOfMonth]);
  // A date that does not exist, such as 2026/02/30, differs from what is written for it.
  return civilOf(day).join('/') === [year, month, dayOfMonth].join('/') ? day : undefined;
}

type Civil = readonly [year: number, month: number, dayOfMonth: number];

/** Days since 1970 in the Gregorian calendar. A year begins in March here, so that a leap day is its last one. */
function dayOf([year, month, dayOfMonth]: Civil): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / YEARS_OF_ERA);
  const yearOfEra = shifted - era * YEARS_OF_ERA;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + dayOfMonth - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * DAYS_OF_ERA + dayOfEra - DAYS_BEFORE_1970;
}

function civilOf(day: number): Civil {
  const shifted = day + DAYS_BEFORE_1970;
  const era = Math.floor(shifted / DAYS_OF_ERA);
  const dayOfEra = shifted - era * DAYS_OF_ERA;
  const leapDays = Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const year = yearOfEra + era * YEARS_OF_ERA + (month <= 2 ? 1 : 0);
  return [year, month, dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1];
}
