// Source of bcryptprimitives.dll for Wine 8, which lacks this library. It has the one function that Rust's std imports.
#include <windows.h>

// Microsoft documents this function as RtlGenRandom; advapi32 exports it under this name.
BOOLEAN NTAPI SystemFunction036(void *, ULONG);

__declspec(dllexport) BOOL WINAPI ProcessPrng(BYTE *data, SIZE_T len) {
    const ULONG most = 1 << 28;
    for (; len > most; data += most, len -= most) {
        if (!SystemFunction036(data, most)) {
            return FALSE;
        }
    }
    return SystemFunction036(data, (ULONG)len);
}
