/**
 * Takes the symbols out of an ELF executable: a fifth of Node's. They help debuggers of native code
 * only.
 *
 * An ELF file has two tables. Segments are what the system loads; sections are for linkers and
 * debuggers. The parts that no segment covers follow the last segment, with the table of sections
 * at the very end:
 *
 *     header | segments … | .symtab .strtab .comment | table of sections
 *                         ^ the file ends here afterwards
 */

const elfMagic = 0x464c457f
/** Offsets in the header of a 64-bit file, and in a row of its table of segments. */
const at = {
  bits: 4,
  segments: 32,
  sections: 40,
  rowBytes: 54,
  rows: 56,
  sectionRows: 60,
  names: 62,
}
const row = { offset: 8, fileBytes: 32 }
const bits64 = 2

/** The executable without symbols; as it is where it is no 64-bit ELF file. */
export function stripExecutable(bytes: Buffer): Buffer {
  if (bytes.readUInt32LE(0) !== elfMagic || bytes[at.bits] !== bits64) return bytes
  const table = Number(bytes.readBigUInt64LE(at.segments))
  const rowBytes = bytes.readUInt16LE(at.rowBytes)
  let end = 0
  for (let i = 0; i < bytes.readUInt16LE(at.rows); i++) {
    const start = table + i * rowBytes
    const last =
      bytes.readBigUInt64LE(start + row.offset) + bytes.readBigUInt64LE(start + row.fileBytes)
    end = Math.max(end, Number(last))
  }
  const stripped = Buffer.from(bytes.subarray(0, end))
  stripped.writeBigUInt64LE(0n, at.sections)
  stripped.writeUInt16LE(0, at.sectionRows)
  stripped.writeUInt16LE(0, at.names)
  return stripped
}
