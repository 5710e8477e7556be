package jobs

import (
	"context"
	"sync"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// BlockCache keeps decoded object blocks in memory for later passes over them. Blocks are never
// evicted: every level passes over all blocks, so no other choice of blocks would be better.
type BlockCache struct {
	most int64 // bytes

	mu     sync.Mutex
	held   int64
	blocks map[string]cachedBlock
}

type cachedBlock struct {
	objects *dataset.Objects
	bytes   int64 // size of the encoded block
}

// NewBlockCache returns an empty cache for at most most bytes of blocks.
func NewBlockCache(most int64) *BlockCache {
	return &BlockCache{most: most, blocks: make(map[string]cachedBlock)}
}

// decodedTimes is roughly the greatest ratio of the memory of a decoded block and of the encoded
// block.
const decodedTimes = 2

// objects returns the objects of a task's block, which the caller must not change. It counts the
// bytes of the block as read.
func (c *GrowConfig) objects(ctx context.Context, t Task) (*dataset.Objects, error) {
	cache := c.Cache
	if cache == nil {
		block, err := readBlock(ctx, t)
		if err != nil {
			return nil, err
		}
		return c.load(block)
	}
	cache.mu.Lock()
	kept, ok := cache.blocks[t.File]
	cache.mu.Unlock()
	if ok {
		progressOf(ctx).Read.Add(kept.bytes)
		return kept.objects, nil
	}
	block, err := readBlock(ctx, t)
	if err != nil {
		return nil, err
	}
	o, err := c.load(block)
	if err != nil {
		return nil, err
	}
	cache.mu.Lock()
	defer cache.mu.Unlock()
	if bytes := int64(len(block)); cache.held+decodedTimes*bytes <= cache.most {
		cache.held += decodedTimes * bytes
		cache.blocks[t.File] = cachedBlock{o, bytes}
	}
	return o, nil
}
