import { expect, it } from 'vitest';
import { shareFormat } from './share-format';

it('shows no share as the threshold that it misses', () => {
  const { format } = shareFormat('en');
  expect([0.9496, 0.95, 0.9551, 0.57].map(format)).toEqual(['94.9%', '95%', '95.5%', '57%']);
});
