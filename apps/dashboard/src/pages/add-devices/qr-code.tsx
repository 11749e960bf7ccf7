/** A QR code as one path, dark on light in both colour schemes, for the camera of a phone. */
import { useMemo } from 'react';
import { encode } from 'uqr';
import classes from './add-devices.module.css';

export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { path, size } = useMemo(() => {
    // The quiet zone that readers expect is four modules wide.
    const code = encode(text, { ecc: 'M', border: 4 });
    const dark = code.data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])));
    return { path: dark.join(''), size: code.size };
  }, [text]);
  return (
    <svg className={classes.qrCode} role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`}>
      <path d={path} shapeRendering="crispEdges" />
    </svg>
  );
}
