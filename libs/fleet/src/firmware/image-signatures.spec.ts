import { describe, expect, it } from 'vitest';
import { refuseSignatureText } from './image-signatures.js';

const signature = Buffer.alloc(64, 7).toString('base64');

describe('the text of a signature', () => {
  it('is base64, in one line or in lines as `base64` of Linux writes it', () => {
    expect(refuseSignatureText(undefined)).toBeUndefined();
    expect(refuseSignatureText(`${signature}\n`)).toBeUndefined();
    expect(refuseSignatureText(`${signature.slice(0, 76)}\r\n${signature.slice(76)}\n`)).toBeUndefined();
  });

  it.each(['', signature.slice(4), `${signature}AAAA`, `-${signature.slice(1)}`])('is refused if it is %j', (text) => {
    expect(refuseSignatureText(text)).toMatchObject({ code: 'SIGNATURE_INVALID' });
  });
});
