import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FlashFile } from './flash-file.js';

const flash = { uuid: '3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21', settings: { 'mqtt.endpoint': 'hub:1883' } };

let folder: string;
let file: string;
let warnings: string[];
const open = () => new FlashFile(file, (problem) => warnings.push(problem));

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'flash-file-'));
  file = path.join(folder, 'simulated-devices', '1.json');
  warnings = [];
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('the flash of simulated devices', () => {
  it('is there in the next run', () => {
    const flashes = open();
    flashes.keep('lamp', flash);
    flashes.save();
    expect(open().of('lamp')).toEqual(flash);
    expect(warnings).toEqual([]);
  });

  it('that cannot be written is reported once, kept in memory, and written later', () => {
    const flashes = open();
    const blocker = path.dirname(file);
    writeFileSync(blocker, 'a file where a folder must be');
    flashes.keep('lamp', flash);
    flashes.save();
    flashes.save();
    expect(warnings).toEqual([expect.stringContaining('cannot be written')]);
    expect(flashes.of('lamp')).toEqual(flash);
    rmSync(blocker);
    flashes.save();
    expect(open().of('lamp')).toEqual(flash);
  });

  it('that cannot be read is an error with a sentence and the file', () => {
    mkdirSync(file, { recursive: true });
    expect(open).toThrow(`${file} cannot be read: `);
    rmSync(file, { recursive: true });
    writeFileSync(file, '{"lamp":');
    expect(open).toThrow(`${file} does not hold the flash of simulated devices`);
  });
});
