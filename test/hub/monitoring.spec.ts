/** The dashboards and rules in deploy/ name metrics that a hub has. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';

const deploy = fileURLToPath(new URL('../../deploy/', import.meta.url));
const files = ['grafana', 'prometheus'].flatMap((folder) =>
  readdirSync(`${deploy}${folder}`).map((name) => `${folder}/${name}`),
);

describe('what deploy/ has for Grafana and Prometheus', () => {
  let hub: HubProcess;
  let known: ReadonlySet<string>;

  beforeAll(async () => {
    hub = await startHub();
    const answer = await fetch(`${hub.httpUrl}/metrics`, { headers: { authorization: `Bearer ${hub.adminKey}` } });
    const names = [...(await answer.text()).matchAll(/^# TYPE (\S+) (\S+)/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    );
    known = new Set(names);
  });
  afterAll(async () => {
    await hub.stop();
    removeDataDir(hub.dataDir);
  });

  it('is there: three dashboards and a file of rules', () => {
    expect(files).toEqual([
      'grafana/fleet.json',
      'grafana/jobs.json',
      'grafana/process.json',
      'prometheus/flotilla-rules.yml',
    ]);
  });

  it.each(files)('%s names only metrics of the hub', (file) => {
    const text = readFileSync(`${deploy}${file}`, 'utf8');
    const named = new Set(text.match(/\bflotilla_[a-z0-9_]+/g));
    expect(named.size).toBeGreaterThan(3);
    expect([...named].filter((name) => !known.has(name))).toEqual([]);
  });

  it.each(files.filter((file) => file.endsWith('.json')))('%s is a dashboard whose panels have queries', (file) => {
    const { panels, title } = JSON.parse(readFileSync(`${deploy}${file}`, 'utf8')) as {
      title: string;
      panels: { title: string; targets: { expr: string }[] }[];
    };
    expect(title).toMatch(/^Flotilla: /);
    expect(panels.length).toBeGreaterThan(3);
    for (const panel of panels)
      expect(
        panel.targets.every(({ expr }) => expr !== ''),
        panel.title,
      ).toBe(true);
  });
});
