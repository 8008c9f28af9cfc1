const TOKEN = /^Bearer ([0-9a-f]{64})$/i

/** The token in an `Authorization` header, if it has the shape of one. */
export const bearerIn = (header: string | undefined): string | undefined => TOKEN.exec(header ?? '')?.[1]?.toLowerCase()
