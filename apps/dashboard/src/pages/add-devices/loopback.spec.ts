import { describe, expect, it } from 'vitest';
import { isLoopback } from './loopback';

describe('a loopback address', () => {
  it.each(['http://127.0.0.1:8080/ota/', 'http://127.9.9.9/ota/', 'http://localhost:8080/', 'http://[::1]:8080/ota/'])(
    'is %s',
    (address) => {
      expect(isLoopback(address)).toBe(true);
    },
  );

  it.each(['http://192.0.2.7:8080/ota/', 'https://hub.example/ota/', 'http://127.example/', 'localhost', ''])(
    'is not %j',
    (address) => {
      expect(isLoopback(address)).toBe(false);
    },
  );
});
