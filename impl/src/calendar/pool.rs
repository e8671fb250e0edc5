//! Where do entries lie in memory?

use super::{CHUNK_BYTES, LINK_AT, NONE, SLAB_CHUNKS};

pub(super) type Chunk = [u8; CHUNK_BYTES];
pub(super) type Slab = [u8; CHUNK_BYTES * SLAB_CHUNKS];

/// Chunks by number, in slabs that never move.
#[derive(Clone)]
pub(super) struct Pool {
    pub(super) slabs: Vec<Box<Slab>>,
    /// The first of the chunks given back, each of which names the next.
    pub(super) free: u32,
    pub(super) free_chunks: u32,
    /// The first chunk never used.
    pub(super) fresh: u32,
}

impl Pool {
    pub(super) fn new() -> Self {
        Self { slabs: Vec::new(), free: NONE, free_chunks: 0, fresh: 0 }
    }

    pub(super) fn allocated_bytes(&self) -> usize {
        self.slabs.len() * size_of::<Slab>() + self.slabs.capacity() * size_of::<Box<Slab>>()
    }

    pub(super) fn used_chunks(&self) -> usize {
        (self.fresh - self.free_chunks) as usize
    }

    #[inline]
    pub(super) fn chunk(&self, chunk: u32) -> &Chunk {
        let slab = &self.slabs[chunk as usize / SLAB_CHUNKS];
        &slab.as_chunks().0[chunk as usize % SLAB_CHUNKS]
    }

    #[inline]
    pub(super) fn chunk_mut(&mut self, chunk: u32) -> &mut Chunk {
        let slab = &mut self.slabs[chunk as usize / SLAB_CHUNKS];
        &mut slab.as_chunks_mut().0[chunk as usize % SLAB_CHUNKS]
    }

    pub(super) fn allocate(&mut self) -> u32 {
        if self.free != NONE {
            let chunk = self.free;
            self.free = self.next(chunk);
            self.free_chunks -= 1;
            return chunk;
        }
        if self.fresh as usize == self.slabs.len() * SLAB_CHUNKS {
            // Bytes of zero come untouched from the system; arrays of them would be copied in.
            let slab = vec![0; size_of::<Slab>()].into_boxed_slice();
            self.slabs.push(slab.try_into().expect("a slab has the size of a slab"));
        }
        let chunk = self.fresh;
        assert!(chunk < NONE, "chunk numbers are 32 bits");
        self.fresh += 1;
        chunk
    }

    pub(super) fn free(&mut self, chunk: u32) {
        self.set_next(chunk, self.free);
        self.free = chunk;
        self.free_chunks += 1;
    }

    #[inline]
    pub(super) fn next(&self, chunk: u32) -> u32 {
        let link = &self.chunk(chunk)[LINK_AT..];
        u32::from_le_bytes([link[0], link[1], link[2], link[3]])
    }

    pub(super) fn set_next(&mut self, chunk: u32, next: u32) {
        self.chunk_mut(chunk)[LINK_AT..].copy_from_slice(&next.to_le_bytes());
    }
}
