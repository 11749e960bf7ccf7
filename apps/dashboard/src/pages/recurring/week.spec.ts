import { expect, it } from 'vitest';
import { weekOf } from './week';

const at = (day: number, hour: number) => new Date(2026, 2, day, hour).toISOString();

it('sorts the runs of seven days into their days', () => {
  const jobs = [
    { id: 'night', name: 'Night', nextRuns: [at(27, 22), at(28, 22), at(29, 22), at(30, 22)] },
    { id: 'noon', name: 'Noon', nextRuns: [at(28, 12), at(29, 12), at(10, 12)] },
  ];
  const week = weekOf(jobs, new Date(2026, 2, 27, 15).getTime());
  expect(week.map((day) => new Date(day.at).getDate())).toEqual([27, 28, 29, 30, 31, 1, 2]);
  expect(week.map(({ runs }) => runs.map(({ id }) => id))).toEqual([
    ['night'],
    ['noon', 'night'],
    ['noon', 'night'],
    ['night'],
    [],
    [],
    [],
  ]);
});

it('names the jobs whose times end before the week does, on each day that lacks some', () => {
  const everyHour = Array.from({ length: 100 }, (_unused, hour) => at(27, 16 + hour));
  const jobs = [
    { id: 'hourly', name: 'Hourly', nextRuns: everyHour },
    { id: 'noon', name: 'Noon', nextRuns: [at(28, 12)] },
  ];
  const week = weekOf(jobs, new Date(2026, 2, 27, 15).getTime());
  expect(week.map(({ unlisted }) => unlisted)).toEqual([[], [], [], [], ['Hourly'], ['Hourly'], ['Hourly']]);
});
