/**
 * Updates at boot: firmware offered by the OTA answer, assets set by a call. [xiaozhi §5.2, §7.5,
 * §7.6]
 */
import { describe, expect, it } from 'vitest';
import type { HttpResponse } from '../connection/http-messages.js';
import { BootBench, mqtt } from './boot-bench.suite.js';

const url = 'http://hub.example/t/download/abc';
const running = '2.4.2';

function imageOf(version: string): HttpResponse {
  const about = {
    version,
    chip: 'esp32s3',
    elfSha256: 'ab'.repeat(32),
    imageBytes: 4096,
    project: 'xiaozhi',
    idfVersion: 'v5.5.2',
    secureVersion: 0,
    minChipRevision: 0,
    maxChipRevision: undefined,
    flashMode: 'dio',
    signatureKeys: [],
  };
  return { status: 200, body: '', contentLength: 4096, image: { ok: true, image: { ...about, compiledAt: '' } } };
}

const assetsOf = (bytes: number): HttpResponse => ({
  status: 200,
  body: '',
  contentLength: bytes,
  assets: { ok: true, bytes },
});

function offer(bench: BootBench, firmware: unknown): void {
  bench.answer({ mqtt, firmware });
}

describe('firmware that the OTA answer offers', () => {
  it.each([
    ['a newer version', { version: '2.5', url }, true],
    ['more segments of the same', { version: `${running}.1`, url }, true],
    ['its own version', { version: running, url }, false],
    ['an older one', { version: '2.3.9', url }, false],
    ['an older one that is forced', { version: '2.3.9', url, force: 1 }, true],
    ['its own that is forced', { version: running, url, force: 1 }, true],
    ['an older one with a force that is not a number', { version: '2.3.9', url, force: true }, false],
    ['a newer one without an address', { version: '2.5' }, false],
  ])('is judged as the device does: %s', (_what, firmware, isTaken) => {
    const bench = new BootBench();
    offer(bench, firmware);
    bench.wait(4_000);
    expect(bench.fetched).toEqual(isTaken ? [[4_000, url]] : []);
    expect(bench.connectedAt).toEqual(isTaken ? [] : [0]);
  });

  it('is fetched before the device connects, and reported at the next check', () => {
    const bench = new BootBench();
    offer(bench, { version: '2.5.0', url });
    bench.wait(10_000);
    bench.respond(imageOf('2.5.0'));
    bench.wait(10_000);
    expect(bench.reported).toEqual([running, '2.5.0']);
    expect(bench.notices).toEqual([{ kind: 'installed', version: '2.5.0' }]);
    offer(bench, { version: '2.5.0', url: '' });
    bench.wait(1_000);
    expect(bench.connectedAt).toHaveLength(1);
  });

  it('that cannot be fetched leaves the device as it was, connected 3 s later', () => {
    const bench = new BootBench();
    offer(bench, { version: '2.5.0', url });
    bench.wait(4_000);
    bench.respond({ status: 503, body: '', contentLength: 9 });
    bench.wait(60_000);
    expect(bench.notices).toEqual([{ kind: 'updateFailed', reason: 'HTTP 503' }]);
    expect(bench.connectedAt).toEqual([7_000]);
  });

  it('that is forced is installed at every boot while the answer forces it', () => {
    const bench = new BootBench();
    for (let starts = 1; starts <= 3; starts += 1) {
      offer(bench, { version: '2.3.9', url, force: 1 });
      bench.wait(4_000);
      bench.respond(imageOf('2.3.9'));
      bench.wait(10_000);
    }
    expect(bench.reported).toEqual([running, '2.3.9', '2.3.9', '2.3.9']);
  });

  it.each([
    ['rollBack', [running, running]],
    ['brick', [running]],
  ] as const)('ends as the fault says: %s', (how, versions) => {
    const bench = new BootBench({ behaviours: [{ kind: 'upgradeFault', how }] });
    offer(bench, { version: '2.5.0', url });
    bench.wait(4_000);
    bench.respond(imageOf('2.5.0'));
    bench.wait(600_000);
    expect(bench.reported).toEqual(versions);
  });

  it('is given up where the device restarts before the check that confirms it', () => {
    const bench = new BootBench();
    offer(bench, { version: '2.5.0', url });
    bench.wait(4_000);
    bench.respond(imageOf('2.5.0'));
    bench.wait(10_000);
    bench.restart();
    bench.wait(10_000);
    expect(bench.reported).toEqual([running, '2.5.0', running]);
  });
});

describe('assets that a call has announced', () => {
  const started = (): BootBench => {
    const bench = new BootBench();
    offer(bench, { version: running, url: '' });
    bench.wait(1_000);
    bench.call('self.assets.set_download_url', { url });
    bench.wait(1_000);
    expect(bench.fetched).toEqual([]);
    bench.restart();
    bench.wait(13_000);
    return bench;
  };

  it('are fetched at the next start, before anything else, and once', () => {
    const bench = started();
    expect(bench.fetched).toEqual([[13_000, url]]);
    bench.respond(assetsOf(100_000));
    expect(bench.notices).toEqual([{ kind: 'assetsLoaded', bytes: 100_000 }]);
    offer(bench, { version: running, url: '' });
    bench.wait(1_000);
    bench.restart();
    bench.wait(60_000);
    expect(bench.fetched).toHaveLength(1);
    expect(bench.reported).toHaveLength(3);
  });

  it.each([
    ['HTTP 410', { status: 410, body: '', contentLength: 9 }],
    ['8388609 bytes do not fit into 8388608', assetsOf(8_388_609)],
    ['broken', { ...assetsOf(9), assets: { ok: false as const, reason: 'broken' } }],
  ])('that end with %s leave the device as it was', (reason, response) => {
    const bench = started();
    bench.respond(response);
    bench.wait(3_000);
    expect(bench.notices).toEqual([{ kind: 'updateFailed', reason: `assets: ${reason}` }]);
    expect(bench.reported).toEqual([running, running]);
  });
});
