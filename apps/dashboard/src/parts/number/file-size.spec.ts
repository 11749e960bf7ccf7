import { describe, expect, it } from 'vitest';
import { fileSize } from './file-size';

describe('the size of a file', () => {
  it('is in kB below a megabyte, and in MB from there', () => {
    expect([4_128, 999_499, 999_500, 1_000_000, 2_345_678].map((bytes) => fileSize(bytes, 'en'))).toEqual([
      '4 kB',
      '999 kB',
      '1 MB',
      '1 MB',
      '2.3 MB',
    ]);
    expect(fileSize(2_345_678, 'zh')).toBe('2.3 MB');
  });
});
